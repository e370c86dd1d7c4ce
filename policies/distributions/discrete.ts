import * as tf from "@tensorflow/tfjs";
import { checkSize, tidied } from "./_shared.ts";
import type { ActionMasking, Distribution } from "./distribution.ts";

/** Smallest normal float32, which avoids `log 0`. */
const SMALLEST = 1.1754944e-38;
/**
 * Logit of a masked choice: far below all others, yet small enough to be added over the
 * parts of an action and weighted by an advantage without overflow.
 */
const FORBIDDEN = -1e30;
/** Log odds at which a bit is certain in float32. */
const SURE = 1e9;
/** Largest float32 below 1: uniform numbers may round up to 1. */
const LARGEST = 1 - 2 ** -24;

/**
 * Samples an index of each row with probabilities `softmax(logits)` by the Gumbel-max
 * trick: the largest of `logits - log(-log(uniform))` (Gumbel 1954).
 */
function argMaxWithGumbelNoise(
  logits: tf.Tensor2D,
  uniform: tf.Tensor2D,
): tf.Tensor1D {
  const inside = tf.clipByValue(uniform, SMALLEST, LARGEST);
  const negativeGumbel = tf.log(tf.neg(tf.log(inside)));
  return tf.argMax(tf.sub(logits, negativeGumbel), 1);
}

/** Makes the masking of actions with the given numbers of choices. */
function maskingOf(parts: readonly number[]): ActionMasking {
  return {
    size: parts.reduce((sum, n) => sum + n, 0),
    parts,
    apply: (logits, masks) =>
      tf.tidy(() => tf.where(tf.cast(masks, "bool"), logits, FORBIDDEN)),
  };
}

/**
 * Makes a categorical distribution over `n` actions from logits (unnormalised
 * log-probabilities). Values and gradients are finite for all finite logits. Samples
 * use the Gumbel-max trick: `n` uniform numbers for each row.
 *
 * @param n Number of actions.
 * @param options Smallest action.
 * @returns The distribution; actions are int32 `[batch]`.
 * @throws {RangeError} If `n` is not a positive integer.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { categorical } from "@bellman/policies";
 * import { assertAlmostEquals, assertEquals } from "@std/assert";
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
  options: {
    /**
     * Smallest action: actions are `start` to `start + n - 1`.
     *
     * @default 0
     */
    readonly start?: number;
  } = {},
): Distribution {
  checkSize("categorical", n, "actions");
  const { start = 0 } = options;
  const fromIndex = (index: tf.Tensor1D): tf.Tensor1D =>
    start === 0 ? index : tf.add(index, tf.scalar(start, "int32"));
  return tidied({
    parameterSize: n,
    actionShape: [],
    actionDtype: "int32",
    noise: { kind: "uniform", size: n },
    masking: maskingOf([n]),
    logProb(logits, actions) {
      const choices = tf.range(start, start + n, 1, "int32");
      const chosen = tf.equal(tf.expandDims(actions, 1), choices);
      const masked = tf.mul(tf.logSoftmax(logits), tf.cast(chosen, "float32"));
      return tf.sum(masked, 1);
    },
    entropy: catEntropy,
    klDivergence(p, q) {
      const logP = tf.logSoftmax(p);
      const logRatio = tf.sub(logP, tf.logSoftmax(q));
      return tf.sum(tf.mul(tf.exp(logP), logRatio), 1);
    },
    mode: (logits) => fromIndex(tf.argMax(logits, 1)),
    sample: (logits, noise) => fromIndex(argMaxWithGumbelNoise(logits, noise)),
  });
}

/**
 * Computes the entropy of categorical distributions from logits, finite for all finite
 * logits (baselines/a2c/utils.py, `cat_entropy`).
 *
 * @param logits Unnormalised log-probabilities `[batch, n]`.
 * @returns Nats `[batch]`.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { catEntropy } from "@bellman/policies";
 * import { assertAlmostEquals } from "@std/assert";
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
 * Computes the approximate entropy of categorical distributions from probabilities,
 * with `log(p + 1e-6)` in place of `log p` (baselines/a2c/utils.py,
 * `cat_entropy_softmax`, as used by ACER). It can be slightly negative.
 *
 * @param probabilities Probabilities `[batch, n]`.
 * @returns Nats `[batch]`.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { catEntropySoftmax } from "@bellman/policies";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const [entropy] = catEntropySoftmax(tf.tensor2d([[0, 1]])).arraySync();
 * assertAlmostEquals(entropy, -1e-6, 2e-7);
 * ```
 */
export function catEntropySoftmax(probabilities: tf.Tensor2D): tf.Tensor1D {
  return tf.tidy(() => {
    const logP = tf.log(tf.add(probabilities, 1e-6));
    return tf.neg(tf.sum(tf.mul(probabilities, logP), 1));
  });
}

/**
 * Makes a product of independent categorical distributions, for multi-discrete actions.
 * Their logits lie side by side in a row.
 *
 * @param nvec Number of choices of each part of an action.
 * @returns The distribution; actions are int32 `[batch, nvec.length]`.
 * @throws {RangeError} If a number is not a positive integer, or there is none.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { multiCategorical } from "@bellman/policies";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const distribution = multiCategorical([2, 4]);
 * const entropy = distribution.entropy(tf.zeros([1, 6]));
 * assertAlmostEquals(entropy.arraySync()[0], Math.log(2 * 4), 1e-6);
 * ```
 */
export function multiCategorical(nvec: readonly number[]): Distribution {
  if (nvec.length === 0) {
    throw new RangeError(
      "Cannot make a multi-categorical distribution without any part",
    );
  }
  const sizes = [...nvec];
  const parts = sizes.map((n) => categorical(n));
  const total = sizes.reduce((sum, n) => sum + n, 0);
  // TensorFlow.js cannot differentiate a split into a single part.
  const split = (x: tf.Tensor2D): tf.Tensor2D[] =>
    sizes.length === 1 ? [x] : tf.split(x, sizes, 1);
  const each = <T extends tf.Tensor>(
    parameters: tf.Tensor2D,
    compute: (part: Distribution, logits: tf.Tensor2D, i: number) => T,
  ): T[] => split(parameters).map((logits, i) => compute(parts[i], logits, i));
  return tidied({
    parameterSize: total,
    actionShape: [sizes.length],
    actionDtype: "int32",
    noise: { kind: "uniform", size: total },
    masking: maskingOf(sizes),
    logProb(parameters: tf.Tensor2D, actions) {
      const chosen = tf.unstack(actions, 1);
      return sum(
        each(parameters, (it, logits, i) => it.logProb(logits, chosen[i])),
      );
    },
    entropy: (parameters) =>
      sum(each(parameters, (it, logits) => it.entropy(logits))),
    klDivergence(p, q) {
      const logitsQ = split(q);
      return sum(
        each(p, (it, logits, i) => it.klDivergence(logits, logitsQ[i])),
      );
    },
    mode: (parameters) =>
      tf.stack(each(parameters, (it, logits) => it.mode(logits)), 1),
    sample(parameters, noise) {
      const noises = split(noise);
      return tf.stack(
        each(parameters, (it, logits, i) => it.sample(logits, noises[i])),
        1,
      );
    },
  });
}

/** Adds tensors; a single one is returned as it is. */
function sum(parts: readonly tf.Tensor1D[]): tf.Tensor1D {
  return parts.reduce((total, part) => tf.add(total, part));
}

/**
 * Makes `n` independent Bernoulli variables, for multi-binary actions. Parameters are
 * logits (log odds of a 1). Values and gradients are finite for all finite logits.
 *
 * @param n Number of bits in one action.
 * @returns The distribution; actions are int32 `[batch, n]`.
 * @throws {RangeError} If `n` is not a positive integer.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { bernoulli } from "@bellman/policies";
 * import { assertAlmostEquals, assertEquals } from "@std/assert";
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
  checkSize("Bernoulli", n);
  return tidied({
    parameterSize: n,
    actionShape: [n],
    actionDtype: "int32",
    noise: { kind: "uniform", size: n },
    masking: {
      size: 2 * n,
      parts: Array<number>(n).fill(2),
      apply: (logits, masks) =>
        tf.tidy(() => {
          const allowed = tf.reshape(tf.cast(masks, "bool"), [-1, n, 2]);
          const [mayBeZero, mayBeOne] = tf.unstack(allowed, 2);
          const only = tf.where(mayBeZero, -SURE, SURE) as tf.Tensor2D;
          return tf.where(tf.logicalAnd(mayBeZero, mayBeOne), logits, only);
        }),
    },
    logProb(logits, actions) {
      // log p(a) = -softplus(-l) for a = 1 and -softplus(l) for a = 0.
      const sign = tf.sub(1, tf.mul(tf.cast(actions, "float32"), 2));
      return tf.neg(tf.sum(tf.softplus(tf.mul(logits, sign)), 1));
    },
    entropy(logits) {
      const ones = tf.mul(tf.sigmoid(logits), tf.softplus(tf.neg(logits)));
      const zeros = tf.mul(tf.sigmoid(tf.neg(logits)), tf.softplus(logits));
      return tf.sum(tf.add(ones, zeros), 1);
    },
    klDivergence(p, q) {
      const [notP, notQ] = [tf.neg(p), tf.neg(q)];
      const logOnes = tf.sub(tf.softplus(notQ), tf.softplus(notP));
      const logZeros = tf.sub(tf.softplus(q), tf.softplus(p));
      const ones = tf.mul(tf.sigmoid(p), logOnes);
      return tf.sum(tf.add(ones, tf.mul(tf.sigmoid(notP), logZeros)), 1);
    },
    mode: (logits) => tf.cast(tf.greater(logits, 0), "int32"),
    sample: (logits, noise) =>
      tf.cast(tf.less(tf.minimum(noise, LARGEST), tf.sigmoid(logits)), "int32"),
  });
}
