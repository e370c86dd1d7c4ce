import * as tf from "@tensorflow/tfjs";
import { categorical } from "./categorical.ts";
import type { Distribution } from "./distribution.ts";

/**
 * Several categorical distributions that do not depend on each other. The
 * logits of all stand one after the other in a row.
 *
 * @param nvec Number of values of each part of an action.
 * @returns The distribution; actions are int32 `[batch, nvec.length]`.
 * @throws {RangeError} If a number is not a positive integer, or there is none.
 *
 * @example
 * ```ts
 * import { multiCategorical } from "@bellman/policies";
 * import { assertAlmostEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
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
  // The gradient of a split in one does not work in TensorFlow.js.
  const split = (x: tf.Tensor2D): tf.Tensor2D[] =>
    sizes.length === 1 ? [x] : tf.split(x, sizes, 1);
  const columns = (actions: tf.Tensor): tf.Tensor1D[] =>
    tf.unstack(actions, 1) as tf.Tensor1D[];

  return {
    parameterSize: total,
    actionShape: [sizes.length],
    actionDtype: "int32",
    noise: { kind: "uniform", size: total },
    logProb: (parameters, actions) =>
      tf.tidy(() => {
        const chosen = columns(actions);
        return sum(
          split(parameters).map((logits, i) =>
            parts[i].logProb(logits, chosen[i])
          ),
        );
      }),
    entropy: (parameters) =>
      tf.tidy(() =>
        sum(split(parameters).map((logits, i) => parts[i].entropy(logits)))
      ),
    klDivergence: (p, q) =>
      tf.tidy(() => {
        const logitsQ = split(q);
        return sum(
          split(p).map((logits, i) =>
            parts[i].klDivergence(logits, logitsQ[i])
          ),
        );
      }),
    mode: (parameters) =>
      tf.tidy(() =>
        tf.stack(split(parameters).map((logits, i) => parts[i].mode(logits)), 1)
      ),
    sample: (parameters, noise) =>
      tf.tidy(() => {
        const noises = split(noise);
        const actions = split(parameters).map((logits, i) =>
          parts[i].sample(logits, noises[i])
        );
        return tf.stack(actions, 1);
      }),
  };
}

/** Sum of the parts, with no kernel where there is one only. */
function sum(parts: readonly tf.Tensor1D[]): tf.Tensor1D {
  return parts.reduce((total, part) => tf.add(total, part));
}
