/**
 * Training loop for all algorithms, with evaluation, checkpoints that resume bit for
 * bit, early stopping, logs and a progress bar. Plots are in `@bellman/training/plots`.
 *
 * It depends neither on tensors nor on specific environments: any agent of the form of
 * {@link Trainable} and any environment of the form of {@link VecEnv} can be used.
 *
 * @example Train, then resume from the checkpoint
 * ```ts
 * import { copyArrays, restoreArrays } from "@bellman/files";
 * import { CheckpointStore, train } from "@bellman/training";
 * import type { Trainable, VecEnv } from "@bellman/types";
 * import { assertEquals } from "@std/assert";
 *
 * // Guess a number between 0 and 9; the closer, the better.
 * const makeEnv = (): VecEnv<Float32Array, Int32Array> => ({
 *   numEnvs: 1,
 *   observationSpace: { type: "multiBinary", n: 1 },
 *   actionSpace: { type: "discrete", n: 2 },
 *   reset: () => new Float32Array(1),
 *   step: ([guess]) => ({
 *     observations: new Float32Array(1),
 *     finalObservations: new Float32Array(1),
 *     rewards: Float64Array.of(-Math.abs(guess - 7)),
 *     terminated: Uint8Array.of(1),
 *     truncated: Uint8Array.of(0),
 *   }),
 *   save: () => null,
 *   load: () => {},
 *   observations: () => new Float32Array(1),
 *   close: () => {},
 * });
 *
 * // Try one number after the other and keep the best.
 * function guesser(): Trainable {
 *   // The number to try next, and the best one with its reward.
 *   const known = Float32Array.of(0, 0, -99);
 *   return {
 *     act: () => Int32Array.of(known[0]),
 *     observe({ rewards: [reward] }) {
 *       if (reward > known[2]) known.set([known[0], reward], 1);
 *     },
 *     update() {
 *       known[0] = (known[0] + 1) % 10;
 *       return { policy_loss: -known[2] };
 *     },
 *     save: () => copyArrays({ known }),
 *     load: (state) => restoreArrays({ known }, state),
 *     policy: () => ({ act: () => Int32Array.of(known[1]) }),
 *   };
 * }
 *
 * const store = new CheckpointStore(await Deno.makeTempDir());
 * const options = {
 *   evaluation: { env: makeEnv(), everyTimesteps: 5 },
 *   checkpoints: { store },
 * };
 * const first = await train(guesser(), makeEnv(), {
 *   ...options,
 *   totalTimesteps: 5,
 * });
 * assertEquals(first.bestEvaluation?.meanReturn, -3);
 *
 * const second = await train(guesser(), makeEnv(), {
 *   ...options,
 *   totalTimesteps: 10,
 *   resumeFrom: store.load("latest").state,
 * });
 * assertEquals(second.step, 10);
 * assertEquals(second.bestEvaluation?.meanReturn, 0);
 * ```
 *
 * @module
 */
export * from "./callbacks.ts";
export * from "./diverged.ts";
export * from "./checkpoint_store.ts";
export * from "./evaluate.ts";
export { EventLoopBreak } from "./event_loop.ts";
export {
  CsvLogger,
  EpisodesCsv,
  type EpisodesCsvOptions,
} from "./logs/line_loggers.ts";
export {
  type Hyperparameters,
  type LoggedEpisode,
  type LoggedImage,
  type Logger,
  type LogRow,
  type RunEnd,
} from "./logs/logger.ts";
export * from "./logs/read_logs.ts";
export {
  addStatistics,
  type StatisticInfo,
  statisticName,
  STATISTICS,
  statisticTitle,
} from "./logs/statistics.ts";
export {
  TensorBoardLogger,
  type TensorBoardLoggerOptions,
} from "./logs/tensorboard_logger.ts";
export {
  createProgress,
  formatDuration,
  type ProgressDisplay,
  type ProgressOptions,
  type ProgressReporter,
  type ProgressState,
  type ScreenSize,
} from "./progress.ts";
export { train } from "./train.ts";
export * from "./train_options.ts";
export { divergedArray, type RunStatus, runStatus } from "./training_state.ts";
