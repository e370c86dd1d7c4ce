import * as tf from "@tensorflow/tfjs";

/** Options of {@link softValues}. */
export interface SoftValueOptions {
  /**
   * Temperature `alpha`, the weight of the entropy.
   *
   * @default 1
   */
  readonly alpha?: number | tf.Scalar;
  /**
   * Log-probabilities of the actions under the prior `[batch]`.
   *
   * @default 0: the uniform prior
   */
  readonly logPrior?: tf.Tensor1D;
}

/**
 * Computes soft values of sampled actions, `Q(s, a) - alpha (log pi(a | s) - log
 * p(a))`, whose mean over the policy's actions is the soft value `V(s)`.
 *
 * Source: Haarnoja et al. 2018 (https://arxiv.org/abs/1801.01290), equation 3; `sac.py`
 * of haarnoja/sac for the prior `p`.
 *
 * @param q Q-values `Q(s, a)` `[batch]`, as the minimum of two critics, or quantiles
 * `[batch, n]`.
 * @param logProb Log-probabilities `log pi(a | s)` `[batch]`.
 * @param options Temperature and prior.
 * @returns Soft values in the shape of `q`.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { softValues } from "@bellman/sac";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const q = tf.tensor1d([1, 2]), logProb = tf.tensor1d([-2, 4]);
 * const values = softValues(q, logProb, { alpha: 0.5 });
 * assertEquals(values.arraySync(), [2, 0]);
 * ```
 */
export function softValues<T extends tf.Tensor1D | tf.Tensor2D>(
  q: T,
  logProb: tf.Tensor1D,
  options: SoftValueOptions = {},
): T {
  const { alpha = 1, logPrior } = options;
  return tf.tidy(() => {
    const excess = logPrior === undefined ? logProb : tf.sub(logProb, logPrior);
    const entropy = tf.mul(excess, alpha);
    return tf.sub(q, q.rank === 1 ? entropy : tf.expandDims(entropy, 1));
  });
}

/**
 * Computes the reparameterized policy loss, `-mean(Q(s, a) - alpha (log pi(a | s) - log
 * p(a)))`, whose gradient flows through the sampled action.
 *
 * Source: Haarnoja et al. 2018 (https://arxiv.org/abs/1801.01290), equation 12.
 *
 * @param values Soft values of the policy's actions `[batch]`, from `softValues` or,
 * for discrete actions, `discreteSoftValues`.
 * @returns A scalar.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { reparameterizedPolicyLoss } from "@bellman/sac";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const loss = reparameterizedPolicyLoss(tf.tensor1d([1, 3]));
 * assertEquals(loss.arraySync(), -2);
 * ```
 */
export function reparameterizedPolicyLoss(values: tf.Tensor1D): tf.Scalar {
  return tf.tidy(() => tf.neg(tf.mean(values)));
}

/**
 * Computes the loss of the temperature, `-log(alpha) mean(log pi(a | s) +
 * targetEntropy)`: minimizing it raises the temperature while the policy's entropy is
 * below the target. No gradient flows into the policy.
 *
 * Source: Haarnoja et al. 2018 (https://arxiv.org/abs/1812.05905), equation 18, with
 * `log(alpha)` instead of `alpha`, as in haarnoja's own programs and Stable-Baselines3.
 *
 * @param logAlpha Logarithm of the temperature, a scalar.
 * @param logProb Log-probabilities of sampled actions `[batch]`, or negative entropies
 * of the policy.
 * @param options Target entropy.
 * @returns A scalar.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { temperatureLoss } from "@bellman/sac";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const logProb = tf.tensor1d([1, 2]);
 * const options = { targetEntropy: -1 };
 * const loss = temperatureLoss(tf.scalar(2), logProb, options);
 * assertEquals(loss.arraySync(), -1);
 * ```
 */
export function temperatureLoss(
  logAlpha: tf.Scalar,
  logProb: tf.Tensor1D,
  options: {
    /** Target of the policy's mean entropy, in nats. */
    readonly targetEntropy: number | tf.Scalar;
  },
): tf.Scalar {
  return tf.tidy(() => {
    const lacking = tf.add(tf.mean(logProb), options.targetEntropy);
    return tf.neg(tf.mul(logAlpha, lacking));
  });
}

/**
 * Computes the soft values of a policy over discrete actions, `V(s) = sum_a pi(a | s)
 * (Q(s, a) - alpha log pi(a | s))`.
 *
 * Source: Christodoulou 2019 (https://arxiv.org/abs/1910.07207), equation 10.
 *
 * @param q Q-values `Q(s, a)` of all actions `[batch, n]`; the minimum of two critics.
 * @param logProbs Log-probabilities of all actions `[batch, n]`.
 * @param options Temperature.
 * @returns Soft values `[batch]`.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { discreteSoftValues } from "@bellman/sac";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const q = tf.tensor2d([[1, 3]]);
 * const logProbs: tf.Tensor2D = tf.logSoftmax(tf.zeros([1, 2]));
 * const [value] = discreteSoftValues(q, logProbs, { alpha: 2 }).arraySync();
 * assertAlmostEquals(value, 2 + 2 * Math.log(2), 1e-6);
 * ```
 */
export function discreteSoftValues(
  q: tf.Tensor2D,
  logProbs: tf.Tensor2D,
  options: Pick<SoftValueOptions, "alpha"> = {},
): tf.Tensor1D {
  const { alpha = 1 } = options;
  return tf.tidy(() => {
    const soft = tf.sub(q, tf.mul(logProbs, alpha));
    return tf.sum(tf.mul(tf.exp(logProbs), soft), 1);
  });
}

/**
 * Computes the entropies of a policy over discrete actions, `-sum_a pi(a | s) log pi(a
 * | s)`.
 *
 * @param logProbs Log-probabilities of all actions `[batch, n]`.
 * @returns Nats `[batch]`.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { discreteEntropies } from "@bellman/sac";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const logProbs: tf.Tensor2D = tf.logSoftmax(tf.zeros([1, 4]));
 * const [entropy] = discreteEntropies(logProbs).arraySync();
 * assertAlmostEquals(entropy, Math.log(4), 1e-6);
 * ```
 */
export function discreteEntropies(logProbs: tf.Tensor2D): tf.Tensor1D {
  return tf.tidy(() => tf.neg(tf.sum(tf.mul(tf.exp(logProbs), logProbs), 1)));
}
