/**
 * Common parts of reinforcement-learning algorithms: acting, recording transitions,
 * compiling updates, random streams, counting, saving and exporting. An algorithm is an
 * {@linkcode Algorithm}: its settings, its networks, its update as a pure function, and
 * its memory of transitions.
 *
 * @example Act, observe and learn with any algorithm
 * ```ts
 * import { a2c } from "@bellman/a2c";
 * import { Agent } from "@bellman/agent";
 * import { selectBackend } from "@bellman/compute";
 * import { makeVec } from "@bellman/envs";
 * import { assert } from "@std/assert";
 *
 * await selectBackend("cpu");
 * const env = makeVec("CartPole-v1", { numEnvs: 2 });
 * const agent = new Agent(a2c, env, { config: { numSteps: 4 }, seed: 1 });
 * let observations = env.reset({ seed: 1 });
 * for (let step = 0; step < 4; step++) {
 *   const result = env.step(agent.act(observations));
 *   agent.observe(result);
 *   observations = result.observations;
 * }
 * assert(agent.update()!.entropy > 0);
 * agent.close();
 * ```
 *
 * @module
 */
export * from "./agent.ts";
export * from "./algorithm.ts";
export * from "./device_agent.ts";
export * from "./data_memory.ts";
export { differenceOf } from "./saved_parts.ts";
export type { DeviceEnv, DeviceEpisodes, DeviceStep } from "./device_loop.ts";
export type { QValues } from "./q_values.ts";
export * from "./noisy_actions.ts";
export {
  randomActions,
  type RandomActionsOptions,
  warmupActions,
  type WarmupActionsSettings,
} from "./random_actions.ts";
export { LostRowsError } from "@bellman/buffers/storage";
export {
  type BufferParts,
  type PriorityOptions,
  ReplayStore,
  type ReplayStoreOptions,
  type StoredBuffer,
} from "./replay_store.ts";
export {
  checkReplay,
  type HindsightGoals,
  Replay,
  type ReplayBatch,
  type ReplayOptions,
  unusedReplay,
} from "./replay.ts";
export {
  type AdvantageOptions,
  advantageTargets,
  Rollout,
  type RolloutBatch,
  type RolloutData,
  type RolloutOptions,
  type RolloutTargets,
  type RolloutTensors,
  tensorAdvantages,
  tensorExplainedVariance,
  type TensorTargets,
} from "./rollout.ts";
export * from "./unused_settings.ts";
export * from "./schema.ts";
export { sequenceRows, Sequences, type SequencesOptions } from "./sequences.ts";
export * from "./n_step_rollout.ts";
