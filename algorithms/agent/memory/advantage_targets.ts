import { scan } from "@bellman/compute";
import {
  explainedVariance,
  generalizedAdvantageEstimation,
} from "@bellman/returns";
import * as tf from "@tensorflow/tfjs";
import type { RolloutOptions, RolloutTensors } from "./rollout.ts";

/** Settings of {@link advantageTargets}, as configurations name them. */
export interface AdvantageOptions {
  /** Discount factor of one step. */
  readonly gamma: number;
  /** Weight of longer returns, from 0 (one step) to 1 (whole returns). */
  readonly gaeLambda: number;
  /** True to shift and scale advantages to mean 0 and standard deviation 1. */
  readonly normalizeAdvantage: boolean;
}

/**
 * Returns the targets of an actor-critic's rollout: `advantages` by generalized
 * advantage estimation, `returns`, and the statistic `explained_variance`, as
 * functions of arrays and of tensors.
 *
 * Source: Schulman et al. 2016 (https://arxiv.org/abs/1506.02438).
 *
 * @param options Discount factor, lambda, normalization.
 * @returns Options of `Rollout`.
 *
 * @example
 * ```ts
 * import { advantageTargets } from "@bellman/agent";
 * import { assertEquals } from "@std/assert";
 *
 * const options = { gamma: 0.99, gaeLambda: 1, normalizeAdvantage: false };
 * assertEquals(advantageTargets(options).inputs, ["advantages", "returns"]);
 * ```
 */
export function advantageTargets(
  { gamma, gaeLambda: lambda, normalizeAdvantage }: AdvantageOptions,
): Pick<RolloutOptions, "inputs" | "targets" | "tensorTargets"> {
  return {
    inputs: ["advantages", "returns"],
    targets(data) {
      const made = generalizedAdvantageEstimation(data, {
        ...data,
        gamma,
        lambda,
      });
      const { returns } = made;
      const advantages = normalizeAdvantage
        ? normalized(made.advantages)
        : made.advantages;
      return {
        inputs: { advantages, returns },
        stats: { explained_variance: explainedVariance(data.values, returns) },
      };
    },
    tensorTargets(data) {
      const made = tensorAdvantages(data, { gamma, lambda });
      const { returns } = made;
      const advantages = normalizeAdvantage
        ? normalizedTensor(made.advantages)
        : made.advantages;
      const explained_variance = tensorExplainedVariance(data.values, returns);
      return { inputs: { advantages, returns }, stats: { explained_variance } };
    },
  };
}

/** Shifts and scales numbers to mean 0 and standard deviation 1. */
function normalized(values: ArrayLike<number>): Float32Array {
  const numbers = Array.from(values);
  const mean = numbers.reduce((sum, it) => sum + it, 0) / numbers.length;
  const variance = numbers.reduce((sum, it) => sum + (it - mean) ** 2, 0) /
    numbers.length;
  const scale = 1 / (Math.sqrt(variance) + 1e-8);
  return Float32Array.from(numbers, (it) => (it - mean) * scale);
}

function normalizedTensor(values: tf.Tensor): tf.Tensor {
  const { mean, variance } = tf.moments(values);
  return tf.div(tf.sub(values, mean), tf.add(tf.sqrt(variance), 1e-8));
}

/** Largest number of steps that is unrolled, which is faster. */
const MAX_UNROLLED = 16;

/**
 * Estimates advantages as `generalizedAdvantageEstimation` of `@bellman/returns`
 * does, as a pure function of tensors.
 *
 * @param data Rollout `[numSteps, numEnvs]`.
 * @param options Discount factor and lambda.
 * @returns Advantages and returns `[numSteps, numEnvs]`.
 *
 * @example
 * ```ts
 * import { tensorAdvantages } from "@bellman/agent";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const { returns } = tensorAdvantages({
 *   rewards: tf.tensor2d([[1], [1]]),
 *   values: tf.tensor2d([[2], [4]]),
 *   terminated: tf.tensor2d([[0], [0]]),
 *   truncated: tf.tensor2d([[0], [1]]),
 *   finalValues: tf.tensor2d([[0], [8]]),
 *   lastValues: tf.tensor1d([100]), // of the next episode
 * }, { gamma: 0.5, lambda: 1 });
 * assertEquals([...returns.dataSync()], [3.5, 5]);
 * ```
 */
export function tensorAdvantages(
  data: RolloutTensors,
  { gamma, lambda }: { readonly gamma: number; readonly lambda: number },
): { advantages: tf.Tensor; returns: tf.Tensor } {
  const { lastValues, values, ...rows } = data;
  const length = values.shape[0];
  const { results } = scan({
    valueTp1: lastValues as tf.Tensor,
    advantage: tf.zerosLike(lastValues) as tf.Tensor,
  }, {
    length,
    rows: { ...rows, values },
    isReversed: true,
    isUnrolled: length <= MAX_UNROLLED,
    body({ valueTp1, advantage }, row) {
      const goesOn = tf.sub(1, row.terminated);
      const runs = tf.mul(goesOn, tf.sub(1, row.truncated));
      // After an end, another value follows, or none.
      const cut = tf.mul(tf.mul(goesOn, row.truncated), row.finalValues);
      const following = tf.add(tf.mul(runs, valueTp1), cut);
      const delta = tf.sub(
        tf.add(row.rewards, tf.mul(following, gamma)),
        row.values,
      );
      const rest = tf.mul(tf.mul(runs, advantage), gamma * lambda);
      const next = tf.add(delta, rest);
      return {
        state: { valueTp1: row.values, advantage: next },
        results: { advantages: next },
      };
    },
  });
  const { advantages } = results;
  return { advantages, returns: tf.add(advantages, values) };
}

/**
 * Computes the share of the targets' variance that predictions explain, as
 * `explainedVariance` of `@bellman/returns`, as a pure function of tensors.
 *
 * @param predictions Predictions.
 * @param targets True values; as many.
 * @returns A scalar of at most 1; NaN where the targets do not vary.
 *
 * @example
 * ```ts
 * import { tensorExplainedVariance } from "@bellman/agent";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const targets = tf.tensor1d([1, 2, 3]);
 * assertEquals(tensorExplainedVariance(targets, targets).dataSync()[0], 1);
 * ```
 */
export function tensorExplainedVariance(
  predictions: tf.Tensor,
  targets: tf.Tensor,
): tf.Scalar {
  const squares = (x: tf.Tensor) =>
    tf.sum(tf.square(tf.sub(x, tf.mean(x)))) as tf.Scalar;
  const ofTargets = squares(targets);
  const ofErrors = squares(tf.sub(targets, predictions));
  const varies = tf.greater(tf.max(targets), tf.min(targets));
  const share = tf.sub(1, tf.div(ofErrors, ofTargets));
  return tf.where(varies, share, NaN) as tf.Scalar;
}
