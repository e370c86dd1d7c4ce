/**
 * Soft actor-critic (SAC): the algorithm, its losses and updates as pure functions for
 * box and for discrete actions; its settings and presets.
 *
 * @example Learn which action pays
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { SAC } from "@bellman/sac";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const agent = new SAC({
 *   observationSpace: { type: "discrete", n: 1 },
 *   actionSpace: { type: "box", shape: [1], low: -2, high: 2, dtype: "float32" },
 *   numEnvs: 8,
 * }, {
 *   config: {
 *     hiddenSizes: [32],
 *     batchSize: 64,
 *     bufferSize: 1000,
 *     learningRate: 0.003,
 *   },
 *   seed: 1,
 * });
 *
 * const observations = new Int32Array(8);
 * const ends = new Uint8Array(8).fill(1);
 * for (let step = 0; step < 400; step++) {
 *   const actions = agent.act(observations);
 *   agent.observe({
 *     observations,
 *     rewards: Float64Array.from(actions, (it) => -((it - 1) ** 2)), // 1 is best
 *     terminated: ends,
 *     truncated: new Uint8Array(8),
 *     finalObservations: observations,
 *   });
 *   agent.update();
 * }
 * const [best] = agent.policy({ deterministic: true }).act(observations);
 * assertAlmostEquals(best, 1, 0.5); // as random as it may be, near 1
 * agent.close();
 * ```
 *
 * @module
 */
export * from "./config.ts";
export * from "./updates/discrete_update.ts";
export * from "./updates/losses.ts";
export * from "./updates/model.ts";
export * from "./presets.ts";
export * from "./sac.ts";
export * from "./updates/update.ts";
