/**
 * Learning from recorded data: behavioural cloning (BC) of any policy, and implicit
 * Q-learning (IQL), which finds better actions than the mean of the data; their updates
 * as pure functions, and settings.
 *
 * @example Clone whoever takes the action that it sees
 * ```ts
 * import { Agent } from "@bellman/agent";
 * import { Dataset } from "@bellman/buffers/datasets";
 * import { bc } from "@bellman/offline";
 * import { train } from "@bellman/training";
 * import { assertEquals } from "@std/assert";
 *
 * const spaces = {
 *   observationSpace: { type: "discrete", n: 2 },
 *   actionSpace: { type: "discrete", n: 2 },
 * } as const;
 * const data = new Dataset([{
 *   observations: [0, 1, 1, 0],
 *   actions: [0, 1, 1],
 *   rewards: [0, 0, 0],
 *   terminations: [0, 0, 1],
 *   truncations: [0, 0, 0],
 * }], { ...spaces, holdout: 0 });
 * const config = { hiddenSizes: [8], batchSize: 8, learningRate: 0.03 };
 * const agent = new Agent(bc, { ...spaces, numEnvs: 2 }, { data, config });
 * await train(agent, null, { totalTimesteps: 100 });
 * const actor = agent.policy({ deterministic: true });
 * assertEquals(actor.act([0, 1]), Int32Array.of(0, 1));
 * agent.close();
 * ```
 *
 * @module
 */
export * from "./bc.ts";
export * from "./config.ts";
export * from "./iql.ts";
