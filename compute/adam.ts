import * as tf from "@tensorflow/tfjs";
import { adamWith } from "./_adam.ts";
import type { AdamOptions } from "./adam_options.ts";
import type { Optimizer } from "./optimizer.ts";

/**
 * Adam as it is written today (Kingma and Ba's algorithm, PyTorch's form):
 * `w = w - lr mHat / (sqrt(vHat) + epsilon)` with both means corrected for
 * their start at 0.
 *
 * @param options Betas and epsilon.
 * @returns The optimizer; its state counts the steps under `step`.
 * @throws {RangeError} If a setting lies outside of its range.
 * @example
 * ```ts
 * import { adam } from "@bellman/compute";
 * import { assertAlmostEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * const optimizer = adam();
 * const params = { w: tf.scalar(1) };
 * const step = optimizer.apply(params, { w: tf.scalar(5) }, {
 *   state: optimizer.init(params),
 *   learningRate: tf.scalar(0.1),
 * });
 * // The first step has the length of the learning rate.
 * assertAlmostEquals(step.params.w.dataSync()[0], 0.9, 1e-5);
 * ```
 */
export function adam(options: AdamOptions = {}): Optimizer {
  return adamWith(
    options,
    ({ mean, square, corrections, learningRate, epsilon }) => {
      // The root of the correction is one number, that of a division is many.
      const scale = tf.div(1, tf.sqrt(corrections[1]));
      const root = tf.mul(tf.sqrt(square), scale);
      const rate = tf.div(learningRate, corrections[0]);
      return tf.mul(rate, tf.div(mean, tf.add(root, epsilon)));
    },
  );
}
