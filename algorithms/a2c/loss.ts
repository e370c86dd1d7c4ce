import * as tf from "@tensorflow/tfjs";

/**
 * Computes the policy-gradient loss `mean(A_t * -log pi(a_t | s_t))`. No gradient flows
 * through the advantages `A_t`.
 *
 * Source: Mnih et al. 2016, section 4 (https://arxiv.org/abs/1602.01783); `pg_loss` of
 * baselines/a2c/a2c.py.
 *
 * @param logProb Log-probabilities of the actions `[batch]`.
 * @param advantages Advantages of the actions `[batch]`.
 * @returns A scalar.
 *
 * @example
 * ```ts
 * import { policyGradientLoss } from "@bellman/a2c";
 * import * as tf from "@bellman/compute/tf";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const loss = policyGradientLoss(tf.tensor1d([-1, -2]), tf.tensor1d([3, 1]));
 * assertEquals(loss.arraySync(), 2.5);
 * ```
 */
export function policyGradientLoss(
  logProb: tf.Tensor1D,
  advantages: tf.Tensor1D,
): tf.Scalar {
  return tf.tidy(() => tf.neg(tf.mean(tf.mul(advantages, logProb))));
}

/**
 * Computes the value loss `mean((V(s_t) - R_t)^2)`, without the factor 1/2, as
 * `vf_loss` of baselines/a2c/a2c.py.
 *
 * @param values Value estimates `[batch]`.
 * @param returns Bootstrapped returns `[batch]`.
 * @returns A scalar.
 *
 * @example
 * ```ts
 * import { stateValueLoss } from "@bellman/a2c";
 * import * as tf from "@bellman/compute/tf";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const loss = stateValueLoss(tf.tensor1d([1, 2]), tf.tensor1d([2, 5]));
 * assertEquals(loss.arraySync(), 5);
 * ```
 */
export function stateValueLoss(
  values: tf.Tensor1D,
  returns: tf.Tensor1D,
): tf.Scalar {
  return tf.tidy(() => tf.mean(tf.squaredDifference(values, returns)));
}

/** Inputs of {@link a2cLoss}, each `[batch]`. */
export interface A2CLossInputs {
  /** Log-probabilities of the actions. */
  readonly logProb: tf.Tensor1D;
  /** Entropies of the action distributions, in nats. */
  readonly entropy: tf.Tensor1D;
  /** Value estimates. */
  readonly values: tf.Tensor1D;
  /** Advantages of the actions. */
  readonly advantages: tf.Tensor1D;
  /** Bootstrapped returns. */
  readonly returns: tf.Tensor1D;
}

/** Weights of {@link a2cLoss}. */
export interface A2CLossOptions {
  /**
   * Weight of the entropy (`ent_coef`).
   *
   * @default 0.01
   */
  readonly entropyCoefficient?: number | tf.Scalar;
  /**
   * Weight of the value loss (`vf_coef`).
   *
   * @default 0.5
   */
  readonly valueCoefficient?: number | tf.Scalar;
}

/** Loss of A2C and its parts, all scalars. */
export interface A2CLoss {
  /** Total loss. */
  readonly loss: tf.Scalar;
  /** {@link policyGradientLoss}, without the entropy. */
  readonly policyLoss: tf.Scalar;
  /** {@link stateValueLoss}, unweighted. */
  readonly valueLoss: tf.Scalar;
  /** Mean entropy, in nats. */
  readonly entropy: tf.Scalar;
}

/**
 * Computes the shared objective of A2C:
 * `policyLoss - entropyCoefficient * entropy + valueCoefficient * valueLoss`.
 *
 * Source: baselines/a2c/a2c.py, lines 28-66.
 *
 * @param inputs Model outputs, advantages and returns.
 * @param options Weights of the parts.
 * @returns The loss and its parts.
 *
 * @example
 * ```ts
 * import { a2cLoss } from "@bellman/a2c";
 * import * as tf from "@bellman/compute/tf";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const { loss } = a2cLoss({
 *   logProb: tf.tensor1d([-1, -2]),
 *   entropy: tf.tensor1d([0.5, 0.5]),
 *   values: tf.tensor1d([1, 2]),
 *   advantages: tf.tensor1d([3, 1]),
 *   returns: tf.tensor1d([2, 5]),
 * }, { entropyCoefficient: 0.1, valueCoefficient: 0.5 });
 * assertAlmostEquals(loss.arraySync(), 2.5 - 0.1 * 0.5 + 0.5 * 5, 1e-6);
 * ```
 */
export function a2cLoss(
  inputs: A2CLossInputs,
  options: A2CLossOptions = {},
): A2CLoss {
  const { entropyCoefficient = 0.01, valueCoefficient = 0.5 } = options;
  const policyLoss = policyGradientLoss(inputs.logProb, inputs.advantages);
  const valueLoss = stateValueLoss(inputs.values, inputs.returns);
  const entropy = tf.mean(inputs.entropy) as tf.Scalar;
  const loss = tf.add(
    tf.sub(policyLoss, tf.mul(entropy, entropyCoefficient)),
    tf.mul(valueLoss, valueCoefficient),
  ) as tf.Scalar;
  return { loss, policyLoss, valueLoss, entropy };
}
