/**
 * Proximal policy optimization (PPO): the algorithm, its losses and update as pure
 * functions, its settings and presets.
 *
 * @example Learn which of two actions pays
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { PPO } from "@bellman/ppo";
 * import { assert } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const agent = new PPO({
 *   observationSpace: { type: "discrete", n: 1 },
 *   actionSpace: { type: "discrete", n: 2 },
 *   numEnvs: 8,
 * }, {
 *   config: { numSteps: 8, hiddenSizes: [8], learningRate: 0.02, learningRateSchedule: "constant" },
 *   seed: 1,
 * });
 *
 * const observations = new Int32Array(8);
 * const ends = new Uint8Array(8).fill(1);
 * for (let step = 0; step < 40; step++) {
 *   const rewards = Float64Array.from(agent.act(observations)); // action 1 pays
 *   agent.observe({
 *     observations,
 *     rewards,
 *     terminated: ends,
 *     truncated: new Uint8Array(8),
 *     finalObservations: observations,
 *   });
 *   agent.update();
 * }
 * const actor = agent.policy({ deterministic: true, numEnvs: 1 });
 * assert(actor.act(new Int32Array(1))[0] === 1);
 * agent.close();
 * ```
 *
 * @module
 */
export * from "./config.ts";
export * from "./loss.ts";
export * from "./ppo.ts";
export * from "./presets.ts";
export * from "./update.ts";
