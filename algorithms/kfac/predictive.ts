import { tidy } from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";

/** Distribution that a network predicts for each example of a batch. */
export interface PredictiveDistribution {
  /**
   * Samples targets; no gradient flows through them.
   *
   * @param noise Random numbers, one row for each example.
   * @returns Targets, as {@linkcode logProb} takes them.
   */
  sample(noise: tf.Tensor2D): tf.Tensor;
  /**
   * Computes the log-likelihood of each example `[batch]`.
   *
   * @param targets Targets, one row for each example.
   */
  logProb(targets: tf.Tensor): tf.Tensor1D;
}

/** Computes a function of a tensor without gradient. */
function withoutGradient(
  input: tf.Tensor,
  compute: (input: tf.Tensor) => tf.Tensor,
): tf.Tensor {
  return tf.customGrad((x) => ({
    value: compute(x as tf.Tensor),
    gradFunc: () => tf.zeros((x as tf.Tensor).shape),
  }))(input);
}

/**
 * Makes the distribution over classes of a softmax output. Several choices are separate
 * heads, each with its logits.
 *
 * @param logits Unnormalised log-probabilities `[batch, classes]`.
 * @returns The distribution; targets are classes `[batch]`, sampled with uniform
 * noise `[batch, 1]`.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { categorical } from "@bellman/kfac";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const logProb = categorical(tf.zeros([1, 4])).logProb(tf.tensor1d([2]));
 * assertAlmostEquals(logProb.arraySync()[0], -Math.log(4), 1e-6);
 * ```
 */
export function categorical(logits: tf.Tensor2D): PredictiveDistribution {
  const [batch, classes] = logits.shape;
  return {
    sample: (noise) =>
      withoutGradient(logits, (logits) => {
        const below = tf.cumsum(tf.softmax(logits), 1);
        const passed = tf.cast(tf.greaterEqual(noise, below), "int32");
        const last = tf.scalar(classes - 1, "int32");
        return tf.minimum(tf.sum(passed, 1), last);
      }),
    logProb: (targets) =>
      tidy(() => {
        const mask = withoutGradient(
          tf.reshape(targets, [batch, 1]),
          (it) => tf.cast(tf.equal(it, tf.range(0, classes)), "float32"),
        );
        return tf.sum(tf.mul(mask, tf.logSoftmax(logits)), 1);
      }),
  };
}

/** Options of {@link gaussian}. */
export interface GaussianOptions {
  /**
   * Variance of every dimension.
   *
   * @default 1
   */
  readonly variance?: number;
  /**
   * Learned log standard deviations, of a shape that broadcasts to the means; replaces
   * `variance`.
   *
   * @default none
   */
  readonly logStd?: tf.Tensor;
}

/**
 * Makes independent normal distributions around the outputs. For a value head with
 * fixed variance the Fisher matrix is the Gauss-Newton matrix of the squared error.
 *
 * @param mean Means `[batch]` or `[batch, numbers]`.
 * @param options Variance, or learned standard deviations.
 * @returns The distribution; targets are of the means' shape, sampled with
 * standard normal noise.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { gaussian } from "@bellman/kfac";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const values = gaussian(tf.tensor1d([1, 2]), { variance: 4 });
 * const targets = values.sample(tf.tensor2d([[0.5], [-1]]));
 * assertEquals(targets.arraySync(), [2, 0]);
 * ```
 */
export function gaussian(
  mean: tf.Tensor,
  options: GaussianOptions = {},
): PredictiveDistribution {
  const { variance = 1 } = options;
  const logStd = options.logStd ?? tf.scalar(0.5 * Math.log(variance));
  const [batch] = mean.shape;
  return {
    sample: (noise) =>
      withoutGradient(mean, (mean) => {
        const normal = tf.reshape(noise, mean.shape);
        return tf.add(mean, tf.mul(normal, tf.exp(logStd)));
      }),
    logProb: (targets) =>
      tidy(() => {
        const scaled = tf.mul(tf.sub(targets, mean), tf.exp(tf.neg(logStd)));
        const scale = tf.add(logStd, 0.5 * Math.log(2 * Math.PI));
        const logs = tf.sub(tf.mul(tf.square(scaled), -0.5), scale);
        return tf.sum(tf.reshape(logs, [batch, -1]), 1);
      }),
  };
}

/**
 * Computes the log-likelihood of each example for targets sampled from the model, as
 * the Fisher matrix needs it. Add those of several heads.
 *
 * @param head Predicted distribution.
 * @param noise Random numbers, one row for each example.
 * @returns Log-likelihoods `[batch]`.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { gaussian, sampledLogProb } from "@bellman/kfac";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const head = gaussian(tf.tensor1d([7]));
 * const logProb = sampledLogProb(head, tf.tensor2d([[1]]));
 * const expected = -0.5 - 0.5 * Math.log(2 * Math.PI);
 * assertAlmostEquals(logProb.arraySync()[0], expected, 1e-6);
 * ```
 */
export function sampledLogProb(
  head: PredictiveDistribution,
  noise: tf.Tensor2D,
): tf.Tensor1D {
  return tidy(() => head.logProb(head.sample(noise)));
}
