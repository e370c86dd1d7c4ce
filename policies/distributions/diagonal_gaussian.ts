import * as tf from "@tensorflow/tfjs";
import type { Distribution } from "./distribution.ts";
import { HALF_LOG_TWO_PI, meanAndLogStd } from "./_gaussian.ts";

/**
 * Normal distribution over `size` numbers that do not depend on each other.
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
  if (!Number.isInteger(size) || size < 1) {
    throw new RangeError(
      `Cannot make a Gaussian distribution over ${size} numbers: ` +
        `the number must be a positive integer`,
    );
  }
  const { shape = [size] } = options;
  const shaped = (actions: tf.Tensor2D): tf.Tensor =>
    shape.length === 1
      ? actions
      : tf.reshape(actions, [actions.shape[0], ...shape]);

  return {
    parameterSize: 2 * size,
    actionShape: shape,
    actionDtype: "float32",
    noise: { kind: "normal", size },
    logProb: (parameters, actions) =>
      tf.tidy(() => {
        const [mean, logStd] = meanAndLogStd(parameters, size);
        const flat = shape.length === 1
          ? actions
          : tf.reshape(actions, mean.shape);
        const z = tf.mul(tf.sub(flat, mean), tf.exp(tf.neg(logStd)));
        const exponent = tf.add(tf.mul(tf.square(z), 0.5), logStd);
        return tf.sub(-size * HALF_LOG_TWO_PI, tf.sum(exponent, 1));
      }),
    entropy: (parameters) =>
      tf.tidy(() => {
        const [, logStd] = meanAndLogStd(parameters, size);
        return tf.add(tf.sum(logStd, 1), size * (0.5 + HALF_LOG_TWO_PI));
      }),
    klDivergence: (p, q) => gaussianKlDivergence(p, q, size),
    mode: (parameters) =>
      tf.tidy(() => shaped(tf.slice(parameters, [0, 0], [-1, size]))),
    sample: (parameters, noise) =>
      tf.tidy(() => {
        const [mean, logStd] = meanAndLogStd(parameters, size);
        return shaped(tf.add(mean, tf.mul(tf.exp(logStd), noise)));
      }),
  };
}

/** Options of {@link diagonalGaussian}. */
export interface DiagonalGaussianOptions {
  /**
   * Shape of one action, of `size` numbers in all.
   *
   * @default [size]
   */
  readonly shape?: readonly number[];
}

function gaussianKlDivergence(
  p: tf.Tensor2D,
  q: tf.Tensor2D,
  size: number,
): tf.Tensor1D {
  return tf.tidy(() => {
    const [meanP, logStdP] = meanAndLogStd(p, size);
    const [meanQ, logStdQ] = meanAndLogStd(q, size);
    // With r = log(stdP / stdQ) and z = (meanP - meanQ) / stdQ each part is
    // (exp(2r) - 1 - 2r + z^2) / 2; expm1 keeps it exact where r is small.
    const logRatio = tf.mul(tf.sub(logStdP, logStdQ), 2);
    const z = tf.mul(tf.sub(meanP, meanQ), tf.exp(tf.neg(logStdQ)));
    const spread = tf.sub(tf.expm1(logRatio), logRatio);
    return tf.mul(tf.sum(tf.add(spread, tf.square(z)), 1), 0.5);
  });
}
