import * as tf from "@tensorflow/tfjs";
import { detach } from "./_shared.ts";

/** Term that keeps the variances above 0. */
const EPSILON = 1e-6;

/**
 * Computes the log standard deviations of actions under state-dependent exploration
 * (gSDE; Raffin, Kober and Stulp 2020, https://arxiv.org/abs/2005.05719).
 *
 * An action is `mean + latent E`, where the elements of `E` are normal with standard
 * deviations `exp(logStd)`: the action's variance is `latent^2 exp(logStd)^2`.
 *
 * @param latent Features `[batch, features]`.
 * @param logStd Log standard deviations of `E` `[features, actionSize]`.
 * @param options Gradient of the features.
 * @returns Log standard deviations `[batch, actionSize]`, for a
 * {@link diagonalGaussian}.
 */
export function stateDependentLogStd(
  latent: tf.Tensor2D,
  logStd: tf.Tensor2D,
  options: {
    /**
     * Let gradients reach the features through the standard deviations.
     *
     * @default false
     */
    readonly learnFeatures?: boolean;
  } = {},
): tf.Tensor2D {
  const { learnFeatures = false } = options;
  return tf.tidy(() => {
    const features = learnFeatures ? latent : detach(latent);
    const squares = tf.matMul(
      tf.square(features) as tf.Tensor2D,
      tf.exp(tf.mul(logStd, 2)) as tf.Tensor2D,
    );
    return tf.mul(tf.log(tf.add(squares, EPSILON)), 0.5) as tf.Tensor2D;
  });
}

/**
 * Samples actions under state-dependent exploration: `mean + latent E`, where `E` is
 * `exp(logStd) noise`, one matrix for each row.
 *
 * @param mean Means `[batch, actionSize]`.
 * @param logStd `[features, actionSize]`.
 * @param options Features and noise.
 * @returns Actions `[batch, actionSize]`.
 */
export function sampleStateDependent(
  mean: tf.Tensor2D,
  logStd: tf.Tensor2D,
  options: {
    /** Features `[batch, features]`. */
    readonly latent: tf.Tensor2D;
    /**
     * Normal noise `[batch, features * actionSize]`. Reusing a row over several steps
     * makes the exploration a function of the state.
     */
    readonly noise: tf.Tensor2D;
  },
): tf.Tensor2D {
  const { latent, noise } = options;
  return tf.tidy(() => {
    const [batch, actionSize] = mean.shape;
    const features = latent.shape[1];
    const unit = tf.reshape(noise, [batch, features, actionSize]);
    const matrices = tf.mul(unit, tf.exp(logStd));
    const rows = tf.reshape(latent, [batch, 1, features]);
    const shift = tf.reshape(tf.matMul(rows, matrices), [batch, actionSize]);
    return tf.add(mean, shift);
  });
}
