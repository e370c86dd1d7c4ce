import * as tf from "@tensorflow/tfjs";
import type { Distribution } from "./distribution.ts";
import { argMaxWithGumbelNoise } from "./_gumbel.ts";

/** Options of {@link categorical}. */
export interface CategoricalOptions {
  /**
   * The smallest action: actions are `start` to `start + n - 1`.
   *
   * @default 0
   */
  readonly start?: number;
}

/**
 * Categorical distribution over `n` actions, given by unnormalised log
 * probabilities (logits). Exact and finite, with its gradient, for logits of
 * any finite size. Samples by the Gumbel-max method: `n` uniform numbers a row.
 *
 * @param n Number of actions.
 * @param options The first action.
 * @returns The distribution; actions are int32 `[batch]`.
 * @throws {RangeError} If `n` is not a positive integer.
 *
 * @example
 * ```ts
 * import { categorical } from "@bellman/policies";
 * import { assertAlmostEquals, assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const distribution = categorical(2);
 * const logits = tf.tensor2d([[Math.log(3), 0]]);
 * const logProb = distribution.logProb(logits, tf.tensor1d([0], "int32"));
 * assertAlmostEquals(Math.exp(logProb.arraySync()[0]), 0.75, 1e-6);
 * assertEquals(distribution.mode(logits).arraySync(), [0]);
 * ```
 */
export function categorical(
  n: number,
  options: CategoricalOptions = {},
): Distribution {
  if (!Number.isInteger(n) || n < 1) {
    throw new RangeError(
      `Cannot make a categorical distribution over ${n} actions: ` +
        `the number must be a positive integer`,
    );
  }
  const { start = 0 } = options;
  const fromIndex = (index: tf.Tensor1D): tf.Tensor1D =>
    start === 0 ? index : tf.add(index, tf.scalar(start, "int32"));
  return {
    parameterSize: n,
    actionShape: [],
    actionDtype: "int32",
    noise: { kind: "uniform", size: n },
    logProb: (logits, actions) =>
      tf.tidy(() => {
        const all = tf.range(start, start + n, 1, "int32");
        const chosen = tf.equal(tf.expandDims(actions, 1), all);
        return tf.sum(
          tf.mul(tf.logSoftmax(logits), tf.cast(chosen, "float32")),
          1,
        );
      }),
    entropy: (logits) => catEntropy(logits),
    klDivergence: (p, q) =>
      tf.tidy(() => {
        const logP = tf.logSoftmax(p);
        const logRatio = tf.sub(logP, tf.logSoftmax(q));
        return tf.sum(tf.mul(tf.exp(logP), logRatio), 1);
      }),
    mode: (logits) => tf.tidy(() => fromIndex(tf.argMax(logits, 1))),
    sample: (logits, noise) =>
      tf.tidy(() => fromIndex(argMaxWithGumbelNoise(logits, noise))),
  };
}

/**
 * Exact entropy of categorical distributions given by logits, finite for
 * logits of any finite size (baselines/a2c/utils.py, `cat_entropy`).
 *
 * @param logits Unnormalised log probabilities `[batch, n]`.
 * @returns Nats `[batch]`.
 *
 * @example
 * ```ts
 * import { catEntropy } from "@bellman/policies";
 * import { assertAlmostEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const [entropy] = catEntropy(tf.tensor2d([[7, 7, 7]])).arraySync();
 * assertAlmostEquals(entropy, Math.log(3), 1e-6);
 * ```
 */
export function catEntropy(logits: tf.Tensor2D): tf.Tensor1D {
  return tf.tidy(() => {
    const logP = tf.logSoftmax(logits);
    return tf.neg(tf.sum(tf.mul(tf.exp(logP), logP), 1));
  });
}

/**
 * Approximate entropy of categorical distributions given by probabilities,
 * with `log(p + 1e-6)` in place of `log p` (baselines/a2c/utils.py,
 * `cat_entropy_softmax`, as used by ACER). It can be slightly negative.
 *
 * @param probabilities Probabilities `[batch, n]`.
 * @returns Nats `[batch]`.
 *
 * @example
 * ```ts
 * import { catEntropySoftmax } from "@bellman/policies";
 * import { assertAlmostEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const [entropy] = catEntropySoftmax(tf.tensor2d([[0, 1]])).arraySync();
 * assertAlmostEquals(entropy, -1e-6, 2e-7);
 * ```
 */
export function catEntropySoftmax(probabilities: tf.Tensor2D): tf.Tensor1D {
  return tf.tidy(() =>
    tf.neg(tf.sum(
      tf.mul(probabilities, tf.log(tf.add(probabilities, 1e-6))),
      1,
    ))
  );
}
