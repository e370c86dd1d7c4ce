import type { Algorithm, VecEnv } from "@bellman/types";
import type { TrainOptions } from "./train_options.ts";
import type { TrainResult } from "./train_result.ts";
import { TrainingRun } from "./_training_run.ts";

/**
 * Trains an algorithm: one loop for all of them. Each round takes one step in
 * every copy of the environment, gives it to the algorithm, and asks for an
 * update; then it logs, evaluates, saves and stops, where it is time to.
 *
 * Rows go to the loggers at the first update and every `logInterval` updates,
 * with the names of the original implementations: `nupdates`,
 * `total_timesteps`, `fps`, `time_elapsed`, what the update returned,
 * `eprewmean` and `eplenmean` (means over the last `episodeWindow` episodes).
 *
 * With `resumeFrom`, the run goes on bit for bit as if it had not been
 * interrupted, as long as algorithm, environment, callbacks and options are
 * the same; loggers and checkpoint store drop what is later than the
 * checkpoint.
 *
 * @param algorithm What is trained. It is not closed.
 * @param env The environment to train in. It is not closed.
 * @param options How long, and what to do meanwhile.
 * @returns How the run ended.
 * @throws {TrainingDivergedError} When a loss or parameter is no longer finite.
 * @throws {RangeError} When a number among the options cannot be used.
 *
 * @example
 * ```ts
 * import { train } from "@bellman/training";
 * import type { Algorithm, VecEnv } from "@bellman/types";
 * import { assertEquals } from "@std/assert";
 *
 * // An environment whose episodes take one step and give a reward of 1.
 * const env: VecEnv = {
 *   numEnvs: 2,
 *   observationSpace: { type: "multiBinary", n: 1 },
 *   actionSpace: { type: "discrete", n: 2 },
 *   reset: () => new Float32Array(2),
 *   step: () => ({
 *     observations: new Float32Array(2),
 *     finalObservations: new Float32Array(2),
 *     rewards: new Float64Array([1, 1]),
 *     terminated: new Uint8Array([1, 1]),
 *     truncated: new Uint8Array([0, 0]),
 *   }),
 *   save: () => null,
 *   load: () => {},
 *   observations: () => new Float32Array(2),
 *   close: () => {},
 * };
 * const algorithm: Algorithm = {
 *   act: () => new Int32Array(2),
 *   observe: () => {},
 *   update: () => ({ value_loss: 0 }),
 *   save: () => null,
 *   load: () => {},
 *   policy: () => ({ act: () => new Int32Array(2) }),
 * };
 * const result = await train(algorithm, env, { totalTimesteps: 10 });
 * assertEquals(result.stopReason, "completed");
 * assertEquals(result.step, 10);
 * assertEquals(result.meanReturn, 1);
 * ```
 */
export async function train(
  algorithm: Algorithm,
  env: VecEnv,
  options: TrainOptions,
): Promise<TrainResult> {
  try {
    return await new TrainingRun(algorithm, env, options).run();
  } finally {
    // After an error the bar would stand before its message.
    options.progress?.clear?.();
    for (const logger of options.loggers ?? []) logger.close();
  }
}
