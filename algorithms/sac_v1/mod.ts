/**
 * Soft actor-critic as in its first paper (January 2018): a value function, a scale of
 * rewards instead of a temperature, Gaussian and mixture policies; its losses and update
 * as pure functions, settings and presets. Today's form is `@bellman/sac`.
 *
 * @example Learn which action pays
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { SACv1 } from "@bellman/sac-v1";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const agent = new SACv1({
 *   observationSpace: { type: "discrete", n: 1 },
 *   actionSpace: { type: "box", shape: [1], low: -2, high: 2, dtype: "float32" },
 *   numEnvs: 8,
 * }, {
 *   config: {
 *     hiddenSizes: [32],
 *     batchSize: 64,
 *     bufferSize: 1000,
 *     learningRate: 0.003,
 *     criticLearningRate: 0.01,
 *     learningStarts: 200,
 *     rewardScale: 5, // larger than the entropy
 *   },
 *   seed: 1,
 * });
 *
 * const observations = new Int32Array(8);
 * const ends = new Uint8Array(8).fill(1);
 * for (let step = 0; step < 800; step++) {
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
export * from "./losses.ts";
export * from "./presets.ts";
export * from "./sac_v1.ts";
export * from "./update.ts";
