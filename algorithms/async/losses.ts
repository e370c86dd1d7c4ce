import { a2cLoss, type A2CLossOptions } from "@bellman/a2c";
import * as tf from "@tensorflow/tfjs";

/** Steps of a window and the numbers that they are learned towards, each `[steps]`. */
export interface WindowTargets {
  /** Targets `y` or returns `R`: constants, through which no gradient flows. */
  readonly targets: tf.Tensor1D;
  /** 1 for a step, 0 for a row after the last step of a short window. */
  readonly weights: tf.Tensor1D;
}

/** Inputs of {@link qLoss} beside the values. */
export interface QLossInputs extends WindowTargets {
  /** Actions taken `[steps]`, counted from 0. */
  readonly actions: tf.Tensor1D;
}

/**
 * Picks the value of an action in each row.
 *
 * @param q Values of all actions `[rows, n]`.
 * @param actions Actions `[rows]`, counted from 0.
 * @returns Values `[rows]`.
 *
 * @example
 * ```ts
 * import { valuesOfActions } from "@bellman/async";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const q = tf.tensor2d([[1, 2], [3, 4]]);
 * const values = valuesOfActions(q, tf.tensor1d([1, 0], "int32"));
 * assertEquals(values.arraySync(), [2, 3]);
 * ```
 */
export function valuesOfActions(
  q: tf.Tensor2D,
  actions: tf.Tensor1D,
): tf.Tensor1D {
  return tf.tidy(() => {
    const all = tf.range(0, q.shape[1], 1, "int32");
    const chosen = tf.equal(tf.expandDims(actions, 1), all);
    return tf.sum(tf.mul(q, tf.cast(chosen, "float32")), 1);
  });
}

/**
 * Computes the loss of the Q methods, `sum_t (y_t - Q(s_t, a_t))^2`, without the
 * factor 1/2, as in the paper's pseudocode.
 *
 * Source: Mnih et al. 2016, algorithms 1 and S2 (https://arxiv.org/abs/1602.01783).
 *
 * @param q Values of all actions `[steps, n]`.
 * @param inputs Actions, targets and weights.
 * @returns A scalar: its gradient is that of the window.
 *
 * @example
 * ```ts
 * import { qLoss } from "@bellman/async";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const loss = qLoss(tf.tensor2d([[1, 2], [3, 4]]), {
 *   actions: tf.tensor1d([1, 0], "int32"),
 *   targets: tf.tensor1d([5, 0]),
 *   weights: tf.tensor1d([1, 0]), // the window has one step
 * });
 * assertEquals(loss.arraySync(), 9);
 * ```
 */
export function qLoss(
  q: tf.Tensor2D,
  { actions, targets, weights }: QLossInputs,
): tf.Scalar {
  return tf.tidy(() => {
    const errors = tf.sub(targets, valuesOfActions(q, actions));
    return tf.sum(tf.mul(weights, tf.square(errors)));
  });
}

/** Inputs of {@link a3cLoss}, each `[steps]`. */
export interface A3CLossInputs extends WindowTargets {
  /** Logarithm of the probability of each action taken. */
  readonly logProb: tf.Tensor1D;
  /** Entropy of each action distribution, in nats. */
  readonly entropy: tf.Tensor1D;
  /** Estimated returns `V(s_t)`. */
  readonly values: tf.Tensor1D;
  /** The same numbers as constants, for the advantages. */
  readonly baselines: tf.Tensor1D;
}

/** The loss of A3C and the parts that it is the sum of, all scalars. */
export interface A3CLoss {
  /** Loss of the window, summed over its steps. */
  readonly loss: tf.Scalar;
  /** Its mean policy-gradient loss, without the entropy. */
  readonly policyLoss: tf.Scalar;
  /** Its mean squared error of the values, unweighted. */
  readonly valueLoss: tf.Scalar;
  /** Mean entropy of the policy, in nats. */
  readonly entropy: tf.Scalar;
}

/**
 * Computes the loss of A3C: A2C's, of a window that may be short, and summed where A2C takes
 * the mean: `sum_t -log pi(a_t|s_t) (R_t - V(s_t)) - beta H_t + c (R_t - V(s_t))^2`.
 *
 * Source: Mnih et al. 2016, algorithm S3 (https://arxiv.org/abs/1602.01783).
 *
 * @param inputs Outputs of the model for the window, and returns.
 * @param options Weights of the entropy and of the value's error.
 * @returns The loss and its parts.
 *
 * @example
 * ```ts
 * import { a3cLoss } from "@bellman/async";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const values = tf.tensor1d([1, 9]);
 * const { loss } = a3cLoss({
 *   logProb: tf.tensor1d([-2, -9]),
 *   entropy: tf.tensor1d([0.5, 9]),
 *   values,
 *   baselines: values,
 *   targets: tf.tensor1d([4, 9]),
 *   weights: tf.tensor1d([1, 0]), // the window has one step
 * }, { entropyCoefficient: 0.5, valueCoefficient: 1 });
 * assertEquals(loss.arraySync(), 2 * 3 - 0.5 * 0.5 + 3 * 3);
 * ```
 */
export function a3cLoss(
  inputs: A3CLossInputs,
  options: A2CLossOptions = {},
): A3CLoss {
  return tf.tidy(() => {
    const { logProb, entropy, values, baselines, targets, weights } = inputs;
    const own = <T extends tf.Tensor>(numbers: T) =>
      tf.mul<T>(numbers, weights);
    const parts = a2cLoss({
      logProb,
      entropy: own(entropy),
      values: own(values),
      advantages: own(tf.sub(targets, baselines)),
      returns: own(targets),
    }, options);
    const rows = weights.shape[0];
    const scale = tf.div(rows, tf.sum(weights));
    const mean = (part: tf.Scalar) => tf.mul<tf.Scalar>(part, scale);
    return {
      loss: tf.mul<tf.Scalar>(parts.loss, rows),
      policyLoss: mean(parts.policyLoss),
      valueLoss: mean(parts.valueLoss),
      entropy: mean(parts.entropy),
    };
  });
}
