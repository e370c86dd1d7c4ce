/**
 * Twin delayed deep deterministic policy gradient (TD3) and its predecessor DDPG:
 * off-policy algorithms with deterministic policies of box actions; their updates as
 * pure functions, settings and presets.
 *
 * @example Learn which action pays
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { TD3 } from "@bellman/td3";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const agent = new TD3({
 *   observationSpace: { type: "discrete", n: 1 },
 *   actionSpace: { type: "box", shape: [1], low: -2, high: 2, dtype: "float32" },
 *   numEnvs: 8,
 * }, {
 *   config: {
 *     hiddenSizes: [32],
 *     batchSize: 64,
 *     bufferSize: 1000,
 *     learningRate: 0.001,
 *     criticLearningRate: 0.01,
 *     learningStarts: 200,
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
 * assertAlmostEquals(best, 1, 0.3);
 * agent.close();
 * ```
 *
 * @module
 */
export * from "./config.ts";
export * from "./presets.ts";
export * from "./td3.ts";
export * from "./update.ts";
