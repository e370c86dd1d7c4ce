import * as tf from "@tensorflow/tfjs";

/** Points for each deviation, and deviations to either side. */
const DENSITY = 12, REACH = 6;
const POINTS = Float32Array.from(
  { length: 2 * DENSITY * REACH + 1 },
  (_, i) => i / DENSITY - REACH,
);
const DENSITIES = POINTS.map((z) => Math.exp(-0.5 * z * z));
const TOTAL = DENSITIES.reduce((sum, density) => sum + density, 0);
const WEIGHTS = DENSITIES.map((density) => density / TOTAL);

/**
 * Mean of a function over normal distributions, by the trapezoidal rule. For a
 * smooth function its error falls exponentially with the points: for the
 * logarithm of the tanh's slope it is below 1e-6 up to deviations of 8.
 *
 * @param f A function of each number, that keeps the shape.
 * @param mean `[batch, size]`.
 * @param std `[batch, size]`.
 * @returns `[batch, size]`.
 */
export function normalExpectation(
  f: (x: tf.Tensor) => tf.Tensor,
  mean: tf.Tensor2D,
  std: tf.Tensor2D,
): tf.Tensor2D {
  return tf.tidy(() => {
    const x = tf.add(
      tf.expandDims(mean, 2),
      tf.mul(tf.expandDims(std, 2), tf.tensor1d(POINTS)),
    );
    return tf.sum(tf.mul(f(x), tf.tensor1d(WEIGHTS)), 2);
  });
}
