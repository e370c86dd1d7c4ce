import * as tf from "@tensorflow/tfjs";
import { criticLoss } from "./loss.ts";
import { meanAndDeviation } from "./_moments.ts";

/** What {@link sacDiagnostics} describe, each `[batch]`. */
export interface DiagnosticInputs {
  /** Estimates of the first Q function. */
  readonly qf1: tf.Tensor1D;
  /** Estimates of the second Q function. */
  readonly qf2: tf.Tensor1D;
  /** What both are to become. */
  readonly targets: tf.Tensor1D;
}

/**
 * Means, standard deviations and errors of the Q functions over a batch, by
 * the names of haarnoja/sac; all scalars.
 */
export type SacDiagnostics = Record<
  | "qf1-avg"
  | "qf1-std"
  | "qf2-avg"
  | "qf2-std"
  | "mean-qf-diff"
  | "mean-sq-bellman-error1"
  | "mean-sq-bellman-error2",
  tf.Scalar
>;

/**
 * Describes the Q functions over a batch: `qf1-avg`, `qf1-std`, `qf2-avg`,
 * `qf2-std`, `mean-qf-diff` (the mean of `|Q1 - Q2|`) and
 * `mean-sq-bellman-error1`, `mean-sq-bellman-error2` (the losses
 * {@link criticLoss} without weights). Deviations are the population's.
 *
 * Source: `log_diagnostics` of haarnoja/sac, whose `qf2` prints `qf1`: here it
 * is the second function's.
 *
 * @param inputs Estimates and their targets.
 * @returns Scalars by name.
 *
 * @example
 * ```ts
 * import { sacDiagnostics } from "@bellman/sac";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const diagnostics = sacDiagnostics({
 *   qf1: tf.tensor1d([1, 3]),
 *   qf2: tf.tensor1d([2, 2]),
 *   targets: tf.tensor1d([1, 1]),
 * });
 * assertEquals(diagnostics["qf1-std"].arraySync(), 1);
 * assertEquals(diagnostics["mean-qf-diff"].arraySync(), 1);
 * assertEquals(diagnostics["mean-sq-bellman-error1"].arraySync(), 1);
 * ```
 */
export function sacDiagnostics(inputs: DiagnosticInputs): SacDiagnostics {
  const { qf1, qf2, targets } = inputs;
  const [first, second] = [meanAndDeviation(qf1), meanAndDeviation(qf2)];
  return {
    "qf1-avg": first.mean,
    "qf1-std": first.deviation,
    "qf2-avg": second.mean,
    "qf2-std": second.deviation,
    "mean-qf-diff": tf.tidy(() => tf.mean(tf.abs(tf.sub(qf1, qf2)))),
    "mean-sq-bellman-error1": criticLoss(qf1, targets),
    "mean-sq-bellman-error2": criticLoss(qf2, targets),
  };
}
