import * as tf from "@tensorflow/tfjs";

/**
 * Computes the policy loss by likelihood ratio, `-mean(log pi(a | s) A(s, a))`, with
 * the soft advantage `A(s, a) = Q(s, a) - alpha (log pi(a | s) - log p(a)) - V(s)`.
 * Actions and advantages are constants: the gradient flows only through the
 * log-probabilities.
 *
 * Source: Haarnoja et al. 2018 (https://arxiv.org/abs/1801.01290), the gradient of
 * equation 10; `policy_kl_loss` of haarnoja/sac.
 *
 * @param logProb Log-probabilities of the actions `[batch]`.
 * @param advantages Soft advantages `A(s, a)` `[batch]`.
 * @returns A scalar.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { likelihoodRatioPolicyLoss } from "@bellman/sac-v1";
 * import { assertEquals } from "@std/assert";
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

/**
 * Computes log-probabilities of actions under the standard normal prior, `log N(a; 0,
 * I)` (`action_prior = "normal"`).
 *
 * Source: `sac.py` of haarnoja/sac.
 *
 * @param actions Actions after the tanh `[batch, ...actionShape]`.
 * @returns Log-probabilities `[batch]`.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { normalPriorLogProb } from "@bellman/sac-v1";
 * import { assertAlmostEquals } from "@std/assert";
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
