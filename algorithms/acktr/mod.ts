/**
 * Actor-critic with a Kronecker-factored trust region (ACKTR): A2C's rollouts and loss
 * with the natural gradients of `@bellman/kfac`; the algorithm, its update as a pure
 * function, its settings and presets.
 *
 * @example Learn which of two actions pays
 * ```ts
 * import { ACKTR } from "@bellman/acktr";
 * import * as tf from "@bellman/compute/tf";
 * import { assert } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const agent = new ACKTR({
 *   observationSpace: { type: "discrete", n: 1 },
 *   actionSpace: { type: "discrete", n: 2 },
 *   numEnvs: 8,
 * }, {
 *   config: { numSteps: 5, hiddenSizes: [8], klClip: 0.01 },
 *   seed: 1,
 * });
 *
 * const observations = new Int32Array(8);
 * const ends = new Uint8Array(8).fill(1);
 * for (let step = 0; step < 500; step++) {
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
export * from "./acktr.ts";
export * from "./config.ts";
export * from "./presets.ts";
export * from "./update.ts";
