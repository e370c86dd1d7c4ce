import * as tf from "@tensorflow/tfjs";

/**
 * Result of {@link clippedSurrogateLoss}, with its distance from the policy of the
 * rollout; all scalars.
 */
export interface SurrogateLoss {
  /** Clipped surrogate loss, without entropy. */
  readonly policyLoss: tf.Scalar;
  /** Estimate of the KL divergence, `mean(ratio - 1 - log ratio)`. */
  readonly approxKl: tf.Scalar;
  /** Fraction of clipped ratios. */
  readonly clipFraction: tf.Scalar;
}

/**
 * Computes the clipped surrogate loss `-mean(min(ratio A, clip(ratio, 1 - c, 1 + c)
 * A))`, where `ratio` is the probability of an action under the current policy over
 * that under the rollout's.
 *
 * Source: Schulman et al. 2017 (https://arxiv.org/abs/1707.06347), equation 7; the KL
 * estimate is k3 of http://joschu.net/blog/kl-approx.html.
 *
 * @param inputs Current and old log-probabilities, advantages.
 * @param clipRange Clip range `c` of the ratio.
 * @returns The loss and statistics of the ratio.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { clippedSurrogateLoss } from "@bellman/ppo";
 * import { assertAlmostEquals } from "@std/assert";
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
  { logProb, oldLogProb, advantages }: {
    /** Log-probabilities of the actions under the current policy. */
    readonly logProb: tf.Tensor1D;
    /** Log-probabilities of the actions when they were sampled. */
    readonly oldLogProb: tf.Tensor1D;
    /** Advantages of the actions. */
    readonly advantages: tf.Tensor1D;
  },
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

/**
 * Computes the clipped value loss `mean(max((V - R)^2, (V_c - R)^2))`, where `V_c` is
 * `V` clipped around the rollout's value, without the factor 1/2.
 *
 * Source: baselines/ppo2.
 *
 * @param inputs Current and old values, returns.
 * @param options Clip range and form.
 * @returns A scalar.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { clippedValueLoss } from "@bellman/ppo";
 * import { assertEquals } from "@std/assert";
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
  { values, oldValues, returns }: {
    /** Current value estimates. */
    readonly values: tf.Tensor1D;
    /** Value estimates of the rollout. */
    readonly oldValues: tf.Tensor1D;
    /** Bootstrapped returns. */
    readonly returns: tf.Tensor1D;
  },
  { clipRange, form = "max" }: {
    /** Clip range of the values, around those of the rollout. */
    readonly clipRange: number;
    /**
     * Larger of the unclipped and clipped loss, or only the clipped one, as in
     * Stable-Baselines3: there values beyond the range have no gradient, even if they
     * should come back.
     *
     * @default "max"
     */
    readonly form?: "max" | "clipped";
  },
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
