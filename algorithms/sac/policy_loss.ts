import * as tf from "@tensorflow/tfjs";

/**
 * Policy loss by reparameterization, `-mean(Q(s, a) - alpha (log pi(a | s) -
 * log p(a)))`, where the gradient flows through the sampled action.
 *
 * Source: Haarnoja et al. 2018 (https://arxiv.org/abs/1801.01290), equation 12.
 *
 * @param values Soft values of the policy's own actions `[batch]`, of
 * `softValues`; for a policy over finitely many actions, of
 * `discreteSoftValues`.
 * @returns A scalar.
 *
 * @example
 * ```ts
 * import { reparameterizedPolicyLoss } from "@bellman/sac";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
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
 * Policy loss by likelihood ratio, `-mean(log pi(a | s) A(s, a))`, with the
 * soft advantage `A(s, a) = Q(s, a) - alpha (log pi(a | s) - log p(a)) -
 * V(s)`. The actions and their advantages are numbers: the gradient flows
 * through the logarithm alone.
 *
 * Source: Haarnoja et al. 2018 (https://arxiv.org/abs/1801.01290), the
 * gradient of equation 10; `policy_kl_loss` of haarnoja/sac.
 *
 * @param logProb Logarithm of the policy's density at each action `[batch]`.
 * @param advantages How much better each action was than the state `[batch]`.
 * @returns A scalar.
 *
 * @example
 * ```ts
 * import { likelihoodRatioPolicyLoss } from "@bellman/sac";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const logProb = tf.tensor1d([-1, -2]), advantages = tf.tensor1d([3, 1]);
 * const loss = likelihoodRatioPolicyLoss(logProb, advantages);
 * assertEquals(loss.arraySync(), 2.5);
 * ```
 */
export function likelihoodRatioPolicyLoss(
  logProb: tf.Tensor1D,
  advantages: tf.Tensor1D,
): tf.Scalar {
  return tf.tidy(() => tf.neg(tf.mean(tf.mul(logProb, advantages))));
}

/** What {@link temperatureLoss} holds the entropy to. */
export interface TemperatureLossOptions {
  /** Mean entropy that the policy is to have, in nats. */
  readonly targetEntropy: number;
}

/**
 * Loss of the temperature, `-log(alpha) mean(log pi(a | s) + targetEntropy)`:
 * its descent makes entropy dearer while the policy has too little of it. No
 * gradient flows into the policy.
 *
 * Source: Haarnoja et al. 2018 (https://arxiv.org/abs/1812.05905), equation 18,
 * with `log(alpha)` in the place of `alpha`, as haarnoja's own programs and
 * Stable-Baselines3 have it.
 *
 * @param logAlpha Logarithm of the temperature, a scalar.
 * @param logProb Logarithm of the density of sampled actions `[batch]`, or
 * exact entropies of the policy with their sign turned.
 * @param options The entropy that is wanted.
 * @returns A scalar.
 *
 * @example
 * ```ts
 * import { temperatureLoss } from "@bellman/sac";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
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
  options: TemperatureLossOptions,
): tf.Scalar {
  return tf.tidy(() => {
    const lacking = tf.add(tf.mean(logProb), options.targetEntropy);
    return tf.neg(tf.mul(logAlpha, lacking));
  });
}

/**
 * Logarithm of the density that the standard normal prior gives to actions,
 * `log N(a; 0, I)` (`action_prior = "normal"`).
 *
 * Source: `sac.py` of haarnoja/sac.
 *
 * @param actions Actions after the tanh `[batch, ...actionShape]`.
 * @returns Nats `[batch]`.
 *
 * @example
 * ```ts
 * import { normalPriorLogProb } from "@bellman/sac";
 * import { assertAlmostEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const [logProb] = normalPriorLogProb(tf.tensor2d([[1, 0]])).arraySync();
 * assertAlmostEquals(logProb, -0.5 - Math.log(2 * Math.PI), 1e-6);
 * ```
 */
export function normalPriorLogProb(actions: tf.Tensor): tf.Tensor1D {
  const rows = actions.shape[0];
  const size = actions.size / rows;
  return tf.tidy(() => {
    const squares = tf.square(tf.reshape(actions, [rows, size]));
    const exponent = tf.mul(tf.sum(squares, 1), -0.5);
    return tf.sub(exponent, 0.5 * size * Math.log(2 * Math.PI));
  });
}
