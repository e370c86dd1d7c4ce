/**
 * Actor-critic with experience replay (ACER): the algorithm, its losses and update as
 * pure functions, its settings and presets.
 *
 * @example Learn which of two actions pays
 * ```ts
 * import { ACER } from "@bellman/acer";
 * import * as tf from "@bellman/compute/tf";
 * import { assert } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const agent = new ACER({
 *   observationSpace: { type: "discrete", n: 1 },
 *   actionSpace: { type: "discrete", n: 2 },
 *   numEnvs: 8,
 * }, {
 *   config: {
 *     hiddenSizes: [8],
 *     learningRate: 0.02,
 *     learningRateSchedule: "constant",
 *     numSteps: 4,
 *     bufferSize: 40,
 *     replayStart: 4,
 *   },
 *   seed: 1,
 * });
 *
 * const observations = new Int32Array(8);
 * const ends = new Uint8Array(8).fill(1);
 * for (let step = 0; step < 120; step++) {
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
export * from "./acer.ts";
export * from "./config.ts";
export * from "./continuous.ts";
export {
  type AcerLoss,
  acerLoss,
  type AcerLosses,
  type AcerLossOptions,
  type AcerOutputs,
  type AcerRows,
  divergenceGradient,
  type RetraceInputs,
  retraceTargets,
  type SegmentRows,
  trustRegion,
  type TrustRegionStatistics,
} from "./losses.ts";
export * from "./presets.ts";
export {
  type AcerBatch,
  type AcerGradients,
  acerGradients,
  type AcerGradientsOptions,
  type AcerInputs,
  type AcerState,
  type AcerStatistics,
  type AcerUpdate,
  acerUpdate,
  type AcerUpdateOptions,
  type AcerUpdateResult,
  initAcerState,
  type SegmentBatch,
} from "./update.ts";
