import * as tf from "@tensorflow/tfjs";
import { detach } from "./_shared.ts";

/** Options of {@link stateDependentLogStd}. */
export interface StateDependentLogStdOptions {
  /**
   * True where gradients reach the features through the deviations.
   *
   * @default false
   */
  readonly learnFeatures?: boolean;
}

/** Added to the variances, so that none is 0. */
const EPSILON = 1e-6;

/**
 * Computes the logarithms of the standard deviations that actions have under
 * state-dependent exploration (generalised SDE, Raffin, Kober and Stulp 2020,
 * https://arxiv.org/abs/2005.05719). An action is `mean + latent E`, and the
 * entries of `E` are normal with deviations `exp(logStd)`; so an action is
 * normal with variance `latent^2 exp(logStd)^2`.
 *
 * @param latent Features `[batch, features]`.
 * @param logStd `[features, actionSize]`.
 * @param options What gradients reach.
 * @returns Nats `[batch, actionSize]`: with the means before it, the
 * parameters of a {@link diagonalGaussian}.
 *
 * @example
 * ```ts
 * import { stateDependentLogStd } from "@bellman/policies";
 * import { assertAlmostEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const latent = tf.tensor2d([[3, 4]]);
 * const logStd = stateDependentLogStd(latent, tf.zeros([2, 1]));
 * assertAlmostEquals(Math.exp(logStd.arraySync()[0][0]), 5, 1e-5);
 * ```
 */
export function stateDependentLogStd(
  latent: tf.Tensor2D,
  logStd: tf.Tensor2D,
  options: StateDependentLogStdOptions = {},
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

/** Options of {@link sampleStateDependent}. */
export interface SampleStateDependentOptions {
  /** Features `[batch, features]`. */
  readonly latent: tf.Tensor2D;
  /**
   * Normal numbers `[batch, features * actionSize]`. The same row over several
   * steps gives noise that is a function of the state alone.
   */
  readonly noise: tf.Tensor2D;
}

/**
 * Samples actions under state-dependent exploration: `mean + latent E`, where
 * `E` is `exp(logStd) noise` and each row has its own.
 *
 * @param mean Means `[batch, actionSize]`.
 * @param logStd `[features, actionSize]`.
 * @param options Features and noise.
 * @returns Actions `[batch, actionSize]`.
 *
 * @example
 * ```ts
 * import { sampleStateDependent } from "@bellman/policies";
 * import { assertAlmostEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const actions = sampleStateDependent(
 *   tf.tensor2d([[10]]),
 *   tf.zeros([2, 1]),
 *   { latent: tf.tensor2d([[3, 4]]), noise: tf.tensor2d([[1, -1]]) },
 * );
 * assertAlmostEquals(actions.arraySync()[0][0], 9, 1e-5);
 * ```
 */
export function sampleStateDependent(
  mean: tf.Tensor2D,
  logStd: tf.Tensor2D,
  options: SampleStateDependentOptions,
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
