/**
 * Advantage actor-critic (A2C): the algorithm, its loss and update as pure functions,
 * its settings and presets.
 *
 * @example Learn which of two actions pays
 * ```ts
 * import { A2C } from "@bellman/a2c";
 * import * as tf from "@bellman/compute/tf";
 * import { assert } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const agent = new A2C({
 *   observationSpace: { type: "discrete", n: 1 },
 *   actionSpace: { type: "discrete", n: 2 },
 *   numEnvs: 8,
 * }, {
 *   config: { hiddenSizes: [8], learningRate: 0.02, learningRateSchedule: "constant" },
 *   seed: 1,
 * });
 *
 * const observations = new Int32Array(8);
 * const ends = new Uint8Array(8).fill(1);
 * for (let step = 0; step < 200; step++) {
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
 * const best = agent.policy({ deterministic: true }).act(observations);
 * assert(best.every((action) => action === 1));
 * agent.close();
 * ```
 *
 * @module
 */
export * from "./a2c.ts";
export * from "./config.ts";
export * from "./loss.ts";
export * from "./objectives.ts";
export * from "./presets.ts";
export * from "./update.ts";
