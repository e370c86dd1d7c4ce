import * as tf from "@tensorflow/tfjs";

/** Mean and standard deviation of a batch, that of the population. */
export function meanAndDeviation(
  values: tf.Tensor1D,
): Record<"mean" | "deviation", tf.Scalar> {
  const mean = tf.mean(values) as tf.Scalar;
  const deviation = tf.tidy(() =>
    tf.sqrt(tf.mean(tf.squaredDifference(values, mean)))
  ) as tf.Scalar;
  return { mean, deviation };
}
