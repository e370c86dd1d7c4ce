import * as tf from "@tensorflow/tfjs";

/**
 * Soft values under a policy over finitely many actions, exact,
 * `V(s) = sum_a pi(a | s) (Q(s, a) - alpha log pi(a | s))`.
 *
 * Source: Christodoulou 2019 (https://arxiv.org/abs/1910.07207), equation 10.
 *
 * @param q Estimates `Q(s, a)` of all actions `[batch, n]`, of two critics the
 * smaller ones.
 * @param logProbs Logarithms of the probabilities of all actions `[batch, n]`.
 * @param options Temperature.
 * @returns Soft values `[batch]`.
 *
 * @example
 * ```ts
 * import { discreteSoftValues } from "@bellman/sac";
 * import { assertAlmostEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const q = tf.tensor2d([[1, 3]]), logProbs = tf.logSoftmax(tf.zeros([1, 2]));
 * const [value] = discreteSoftValues(q, logProbs as tf.Tensor2D, { alpha: 2 })
 *   .arraySync();
 * assertAlmostEquals(value, 2 + 2 * Math.log(2), 1e-6);
 * ```
 */
export function discreteSoftValues(
  q: tf.Tensor2D,
  logProbs: tf.Tensor2D,
  options: DiscreteSoftValueOptions = {},
): tf.Tensor1D {
  const { alpha = 1 } = options;
  return tf.tidy(() => {
    const soft = tf.sub(q, tf.mul(logProbs, alpha));
    return tf.sum(tf.mul(tf.exp(logProbs), soft), 1);
  });
}

/** What {@link discreteSoftValues} weighs the entropy with. */
export interface DiscreteSoftValueOptions {
  /**
   * Temperature `alpha`: the worth of a nat of entropy.
   *
   * @default 1
   */
  readonly alpha?: number | tf.Scalar;
}

/**
 * Exact entropies of a policy over finitely many actions,
 * `-sum_a pi(a | s) log pi(a | s)`.
 *
 * @param logProbs Logarithms of the probabilities of all actions `[batch, n]`.
 * @returns Nats `[batch]`.
 *
 * @example
 * ```ts
 * import { discreteEntropies } from "@bellman/sac";
 * import { assertAlmostEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const logProbs = tf.logSoftmax(tf.zeros([1, 4])) as tf.Tensor2D;
 * const [entropy] = discreteEntropies(logProbs).arraySync();
 * assertAlmostEquals(entropy, Math.log(4), 1e-6);
 * ```
 */
export function discreteEntropies(logProbs: tf.Tensor2D): tf.Tensor1D {
  return tf.tidy(() => tf.neg(tf.sum(tf.mul(tf.exp(logProbs), logProbs), 1)));
}

/**
 * The estimates of the actions that were taken.
 *
 * @param q Estimates of all actions `[batch, n]`.
 * @param actions Numbers of the actions taken, from 0, int32 `[batch]`.
 * @returns Estimates `[batch]`.
 *
 * @example
 * ```ts
 * import { valuesOfActions } from "@bellman/sac";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const q = tf.tensor2d([[1, 2], [3, 4]]);
 * const taken = valuesOfActions(q, tf.tensor1d([1, 0], "int32"));
 * assertEquals(taken.arraySync(), [2, 3]);
 * ```
 */
export function valuesOfActions(
  q: tf.Tensor2D,
  actions: tf.Tensor1D,
): tf.Tensor1D {
  return tf.tidy(() => {
    const chosen = tf.oneHot(actions, q.shape[1]);
    return tf.sum(tf.mul(q, tf.cast(chosen, "float32")), 1);
  });
}
