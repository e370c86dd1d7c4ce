/**
 * Deep Q-learning (DQN) with options up to Rainbow: double, dueling, n-step,
 * prioritized, distributional and noisy; the algorithm, its losses and update as pure
 * functions, its settings and presets.
 *
 * @example Learn which of two actions pays
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { DQN } from "@bellman/dqn";
 * import { assert } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const agent = new DQN({
 *   observationSpace: { type: "discrete", n: 1 },
 *   actionSpace: { type: "discrete", n: 2 },
 *   numEnvs: 4,
 * }, {
 *   config: { hiddenSizes: [8], batchSize: 16, learningStarts: 16, learningRate: 0.01 },
 *   seed: 1,
 * });
 *
 * const observations = new Int32Array(4);
 * const ends = new Uint8Array(4).fill(1);
 * for (let step = 0; step < 100; step++) {
 *   const rewards = Float64Array.from(agent.act(observations)); // action 1 pays
 *   agent.observe({
 *     observations,
 *     rewards,
 *     terminated: ends,
 *     truncated: new Uint8Array(4),
 *     finalObservations: observations,
 *   });
 *   agent.update();
 * }
 * const [idle, paying] = agent.qValues(observations.subarray(0, 1));
 * assert(paying > idle);
 * agent.close();
 * ```
 *
 * @module
 */
export * from "./config.ts";
export * from "./dqn.ts";
export * from "./loss.ts";
export * from "./presets.ts";
export * from "./update.ts";
