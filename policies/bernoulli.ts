import * as tf from "@tensorflow/tfjs";
import type { Distribution } from "./distribution.ts";

/**
 * `n` numbers, each 0 or 1, that do not depend on each other. The parameters
 * are the log odds of a 1 (logits). Exact and finite, with its gradient, for
 * logits of any finite size.
 *
 * @param n Numbers in one action.
 * @returns The distribution; actions are int32 `[batch, n]`.
 * @throws {RangeError} If `n` is not a positive integer.
 *
 * @example
 * ```ts
 * import { bernoulli } from "@bellman/policies";
 * import { assertAlmostEquals, assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const distribution = bernoulli(2);
 * const logits = tf.tensor2d([[Math.log(3), -1]]);
 * assertEquals(distribution.mode(logits).arraySync(), [[1, 0]]);
 * const entropy = distribution.entropy(tf.zeros([1, 2]));
 * assertAlmostEquals(entropy.arraySync()[0], 2 * Math.log(2), 1e-6);
 * ```
 */
export function bernoulli(n: number): Distribution {
  if (!Number.isInteger(n) || n < 1) {
    throw new RangeError(
      `Cannot make a Bernoulli distribution over ${n} numbers: ` +
        `the number must be a positive integer`,
    );
  }
  return {
    parameterSize: n,
    actionShape: [n],
    actionDtype: "int32",
    noise: { kind: "uniform", size: n },
    logProb: (logits, actions) =>
      tf.tidy(() => {
        // log p(a) = -softplus(-l) for a = 1 and -softplus(l) for a = 0.
        const sign = tf.sub(1, tf.mul(tf.cast(actions, "float32"), 2));
        return tf.neg(tf.sum(softplus(tf.mul(logits, sign)), 1));
      }),
    entropy: (logits) =>
      tf.tidy(() => {
        const ones = tf.mul(tf.sigmoid(logits), softplus(tf.neg(logits)));
        const zeros = tf.mul(tf.sigmoid(tf.neg(logits)), softplus(logits));
        return tf.sum(tf.add(ones, zeros), 1);
      }),
    klDivergence: (p, q) =>
      tf.tidy(() => {
        const ones = tf.mul(
          tf.sigmoid(p),
          tf.sub(softplus(tf.neg(q)), softplus(tf.neg(p))),
        );
        const zeros = tf.mul(
          tf.sigmoid(tf.neg(p)),
          tf.sub(softplus(q), softplus(p)),
        );
        return tf.sum(tf.add(ones, zeros), 1);
      }),
    mode: (logits) => tf.tidy(() => tf.cast(tf.greater(logits, 0), "int32")),
    sample: (logits, noise) =>
      tf.tidy(() => tf.cast(tf.less(noise, tf.sigmoid(logits)), "int32")),
  };
}

/** `log(1 + exp(x))`. */
function softplus(x: tf.Tensor): tf.Tensor {
  return tf.softplus(x);
}
