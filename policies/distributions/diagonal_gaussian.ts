import * as tf from "@tensorflow/tfjs";
import {
  checkSize,
  exponents,
  gaussianLogProb,
  HALF_LOG_TWO_PI,
  meanAndLogStd,
  tidied,
} from "./_shared.ts";
import type { Distribution } from "./distribution.ts";

/** Options of {@link diagonalGaussian}. */
export interface DiagonalGaussianOptions {
  /**
   * Shape of one action, of `size` numbers in all.
   *
   * @default [size]
   */
  readonly shape?: readonly number[];
}

/**
 * Makes a normal distribution over `size` numbers that do not depend on each
 * other.
 * Its parameters are the means, then the logarithms of the standard
 * deviations: `[mean, logStd]`. Actions are not limited to any bounds.
 *
 * @param size Numbers in one action.
 * @param options The shape of an action.
 * @returns The distribution; actions are float32 `[batch, ...shape]`.
 * @throws {RangeError} If `size` is not a positive integer.
 *
 * @example
 * ```ts
 * import { diagonalGaussian } from "@bellman/policies";
 * import { assertAlmostEquals, assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const distribution = diagonalGaussian(1);
 * const parameters = tf.tensor2d([[3, Math.log(2)]]); // mean 3, deviation 2
 * const action = distribution.sample(parameters, tf.tensor2d([[-1]]));
 * assertAlmostEquals((action.arraySync() as number[][])[0][0], 1, 1e-6);
 * assertEquals(distribution.mode(parameters).arraySync(), [[3]]);
 * ```
 */
export function diagonalGaussian(
  size: number,
  options: DiagonalGaussianOptions = {},
): Distribution {
  checkSize("Gaussian", size);
  const { shape = [size] } = options;
  const shaped = (actions: tf.Tensor2D): tf.Tensor =>
    shape.length === 1 ? actions : tf.reshape(actions, [-1, ...shape]);
  return tidied({
    parameterSize: 2 * size,
    actionShape: shape,
    actionDtype: "float32",
    noise: { kind: "normal", size },
    logProb(parameters, actions) {
      const [mean, logStd] = meanAndLogStd(parameters, size);
      const flat = shape.length === 1
        ? actions
        : tf.reshape(actions, mean.shape);
      const z = tf.mul(tf.sub(flat, mean), tf.exp(tf.neg(logStd)));
      return gaussianLogProb(exponents(logStd, z as tf.Tensor2D));
    },
    entropy(parameters) {
      const [, logStd] = meanAndLogStd(parameters, size);
      return tf.add(tf.sum(logStd, 1), size * (0.5 + HALF_LOG_TWO_PI));
    },
    klDivergence(p, q) {
      const [meanP, logStdP] = meanAndLogStd(p, size);
      const [meanQ, logStdQ] = meanAndLogStd(q, size);
      // With r = log(stdP / stdQ) and z = (meanP - meanQ) / stdQ each part is
      // (exp(2r) - 1 - 2r + z^2) / 2; expm1 keeps it exact where r is small.
      const logRatio = tf.mul(tf.sub(logStdP, logStdQ), 2);
      const z = tf.mul(tf.sub(meanP, meanQ), tf.exp(tf.neg(logStdQ)));
      const spread = tf.sub(tf.expm1(logRatio), logRatio);
      return tf.mul(tf.sum(tf.add(spread, tf.square(z)), 1), 0.5);
    },
    mode: (parameters) => shaped(tf.slice(parameters, [0, 0], [-1, size])),
    sample(parameters, noise) {
      const [mean, logStd] = meanAndLogStd(parameters, size);
      return shaped(tf.add(mean, tf.mul(tf.exp(logStd), noise)));
    },
  });
}
