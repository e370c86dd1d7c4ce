import * as tf from "@tensorflow/tfjs";
import { adamWith } from "./_adam.ts";
import type { AdamOptions } from "./adam_options.ts";
import type { Optimizer } from "./optimizer.ts";

/**
 * Adam as TensorFlow 1 computes it: the corrections go into the learning rate,
 * `lrT = lr sqrt(1 - beta2^t) / (1 - beta1^t)`, and the epsilon is added to the
 * uncorrected root, `w = w - lrT m / (sqrt(v) + epsilon)`.
 *
 * @param options Betas and epsilon.
 * @returns The optimizer; its state counts the steps under `step`.
 * @throws {RangeError} If a setting lies outside of its range.
 * @example
 * ```ts
 * import { adamTf1 } from "@bellman/compute";
 * import { assertAlmostEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * const optimizer = adamTf1({ epsilon: 1 });
 * const params = { w: tf.scalar(1) };
 * const step = optimizer.apply(params, { w: tf.scalar(5) }, {
 *   state: optimizer.init(params),
 *   learningRate: tf.scalar(0.1),
 * });
 * const rate = 0.1 * Math.sqrt(1 - 0.999) / (1 - 0.9);
 * const root = Math.sqrt(0.001 * 25);
 * assertAlmostEquals(
 *   step.params.w.dataSync()[0],
 *   1 - rate * 0.5 / (root + 1),
 *   1e-6,
 * );
 * ```
 */
export function adamTf1(options: AdamOptions = {}): Optimizer {
  return adamWith(
    options,
    ({ mean, square, corrections, learningRate, epsilon }) => {
      const rate = tf.div(
        tf.mul(learningRate, tf.sqrt(corrections[1])),
        corrections[0],
      );
      return tf.mul(rate, tf.div(mean, tf.add(tf.sqrt(square), epsilon)));
    },
  );
}
