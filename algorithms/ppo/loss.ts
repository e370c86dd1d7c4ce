import * as tf from "@tensorflow/tfjs";

/** Inputs of {@link clippedSurrogateLoss}, each `[batch]`. */
export interface SurrogateInputs {
  /** Logarithm of the probability of each action taken. */
  readonly logProb: tf.Tensor1D;
  /** The same when acting. */
  readonly oldLogProb: tf.Tensor1D;
  /** Advantages of the taken actions. */
  readonly advantages: tf.Tensor1D;
}

/** Loss of {@link clippedSurrogateLoss}, and how far the policy is from the one that acted; all scalars. */
export interface SurrogateLoss {
  /** Loss that is minimized, without the entropy. */
  readonly policyLoss: tf.Scalar;
  /** Estimate of the KL divergence, `mean(ratio - 1 - log ratio)`. */
  readonly approxKl: tf.Scalar;
  /** Share of the actions whose ratio is out of the range. */
  readonly clipFraction: tf.Scalar;
}

/**
 * Computes the clipped surrogate loss
 * `-mean(min(ratio A, clip(ratio, 1 - c, 1 + c) A))`, where `ratio` is the
 * probability of an action over the one when acting: beyond the range a better
 * ratio is worth no more.
 *
 * Source: Schulman et al. 2017 (https://arxiv.org/abs/1707.06347), equation 7; the
 * estimate of the divergence is k3 of http://joschu.net/blog/kl-approx.html.
 *
 * @param inputs Probabilities now and when acting, advantages.
 * @param clipRange Distance `c` from 1 at which the ratio is clipped.
 * @returns The loss, and how far the policy is from the one that acted.
 *
 * @example
 * ```ts
 * import { clippedSurrogateLoss } from "@bellman/ppo";
 * import { assertAlmostEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const { policyLoss, clipFraction } = clippedSurrogateLoss({
 *   logProb: tf.tensor1d([Math.log(0.9), Math.log(0.5)]),
 *   oldLogProb: tf.tensor1d([Math.log(0.5), Math.log(0.5)]),
 *   advantages: tf.tensor1d([1, 1]),
 * }, tf.scalar(0.2));
 * assertAlmostEquals(policyLoss.arraySync(), -(1.2 + 1) / 2, 1e-6);
 * assertAlmostEquals(clipFraction.arraySync(), 0.5);
 * ```
 */
export function clippedSurrogateLoss(
  { logProb, oldLogProb, advantages }: SurrogateInputs,
  clipRange: tf.Scalar | number,
): SurrogateLoss {
  const logRatio = tf.sub(logProb, oldLogProb), ratio = tf.exp(logRatio);
  const low = tf.sub(1, clipRange), high = tf.add(1, clipRange);
  const clipped = tf.minimum(tf.maximum(ratio, low), high);
  const surrogate = tf.minimum(
    tf.mul(advantages, ratio),
    tf.mul(advantages, clipped),
  );
  const distance = tf.abs(tf.sub(ratio, 1));
  return {
    policyLoss: tf.neg(tf.mean(surrogate)),
    approxKl: tf.mean(tf.sub(tf.sub(ratio, 1), logRatio)),
    clipFraction: tf.mean(
      tf.cast(tf.greater(distance, clipRange), "float32"),
    ),
  };
}

/** Inputs of {@link clippedValueLoss}, each `[batch]`. */
export interface ClippedValueInputs {
  /** Values. */
  readonly values: tf.Tensor1D;
  /** Values when acting. */
  readonly oldValues: tf.Tensor1D;
  /** Bootstrapped returns. */
  readonly returns: tf.Tensor1D;
}

/** Options of {@link clippedValueLoss}. */
export interface ClippedValueOptions {
  /** Largest distance of a value from the one when acting. */
  readonly clipRange: number;
  /**
   * The larger of both losses, or that of the clipped value alone, as in
   * Stable-Baselines3: values beyond the range then have no gradient, even where they
   * must return.
   *
   * @default "max"
   */
  readonly form?: "max" | "clipped";
}

/**
 * Computes the value loss `mean(max((V - R)^2, (V_c - R)^2))`, where `V_c` is `V` no
 * further from the value when acting than a distance, without the factor 1/2.
 *
 * Source: baselines/ppo2.
 *
 * @param inputs Values now and when acting, returns.
 * @param options Distance and form.
 * @returns A scalar.
 *
 * @example
 * ```ts
 * import { clippedValueLoss } from "@bellman/ppo";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const loss = clippedValueLoss({
 *   values: tf.tensor1d([3]),
 *   oldValues: tf.tensor1d([0]),
 *   returns: tf.tensor1d([4]),
 * }, { clipRange: 1 });
 * assertEquals(loss.arraySync(), 9); // (1 - 4)^2 rather than (3 - 4)^2
 * ```
 */
export function clippedValueLoss(
  { values, oldValues, returns }: ClippedValueInputs,
  { clipRange, form = "max" }: ClippedValueOptions,
): tf.Scalar {
  const moved = tf.clipByValue(
    tf.sub(values, oldValues),
    -clipRange,
    clipRange,
  );
  const clipped = tf.squaredDifference(tf.add(oldValues, moved), returns);
  return tf.mean(
    form === "clipped"
      ? clipped
      : tf.maximum(tf.squaredDifference(values, returns), clipped),
  );
}
