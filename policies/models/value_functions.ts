import * as tf from "@tensorflow/tfjs";
import { type Params, tidy } from "@bellman/compute";
import type {
  BoxSpace,
  DiscreteSpace,
  MultiBinarySpace,
  MultiDiscreteSpace,
  RandomSource,
} from "@bellman/types";
import {
  bodyWithHead,
  type FunctionOptions,
  type LayerInputs,
} from "./_body.ts";
import { flattenRows, sizeOf } from "../networks/_layers.ts";
import { observationEncoder } from "../networks/observations.ts";

/** Options of {@link qFunction}. */
export interface QFunctionOptions extends FunctionOptions {
  /** Action space; multi-discrete actions are one-hot encoded. */
  readonly actionSpace: BoxSpace | MultiDiscreteSpace | MultiBinarySpace;
  /**
   * Number of quantiles of the return that are estimated; null estimates its mean.
   *
   * @default null
   */
  readonly quantiles?: number | null;
}

/** Q-function of an observation and an action. */
export interface QFunction {
  /** Makes initial parameters: `dense0/kernel`, ..., `head/kernel`, `head/bias`. */
  init(random: RandomSource): Params;
  /**
   * Computes Q-values, without dropout and by running statistics.
   *
   * @param params Parameters as {@link init} makes them.
   * @param observations Encoded observations `[batch, ...]`.
   * @param actions Actions `[batch, ...shape]`, as the policy samples them.
   * @returns Q-values `[batch]`: means of the quantiles.
   */
  apply(
    params: Params,
    observations: tf.Tensor,
    actions: tf.Tensor,
  ): tf.Tensor1D;
  /**
   * Estimates values or quantiles, as updates need them.
   *
   * @param params Parameters as {@link init} makes them.
   * @param observations Encoded observations `[batch, ...]`.
   * @param actions Actions `[batch, ...shape]`, as the policy samples them.
   * @param inputs Dropout, and batch normalization by the batch.
   */
  estimate(
    params: Params,
    observations: tf.Tensor,
    actions: tf.Tensor,
    inputs?: LayerInputs,
  ): QEstimate;
}

/** Result of {@link QFunction.estimate}. */
export interface QEstimate {
  /** Q-values `[batch]`, or quantiles `[batch, quantiles]`. */
  readonly values: tf.Tensor1D | tf.Tensor2D;
  /** New running statistics by path; batch normalization in training only. */
  readonly running?: Params;
}

/**
 * Makes a Q-function of an observation and an action: the critic of soft actor-critic.
 * For twin critics make two sets of parameters, and keep them under separate names by
 * {@link addPrefix} and {@link pickPrefix}.
 *
 * @param options Spaces and layers.
 * @returns The function.
 * @throws {TypeError} If the observation space is a dict or tuple.
 * @throws {RangeError} If the network is recurrent, or its name, inputs or
 * options do not fit.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { addPrefix, qFunction, pickPrefix } from "@bellman/policies";
 * import { RandomStream } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const box = { type: "box", low: -1, high: 1, dtype: "float32" } as const;
 * const q = qFunction({
 *   observationSpace: { ...box, shape: [3] },
 *   actionSpace: { ...box, shape: [2] },
 * });
 * const random = new RandomStream(1);
 * const twins = { ...addPrefix(q.init(random), "qf1"), ...addPrefix(q.init(random), "qf2") };
 * const [observations, actions] = [tf.ones([4, 3]), tf.ones([4, 2])];
 * const values = ["qf1", "qf2"].map((name) =>
 *   q.apply(pickPrefix(twins, name), observations, actions)
 * );
 * assertEquals(values.map((it) => it.shape), [[4], [4]]);
 * ```
 */
export function qFunction(options: QFunctionOptions): QFunction {
  const { actionSpace, quantiles } = options;
  const encoder = observationEncoder(actionSpace);
  const encode = actionSpace.type === "box"
    ? flattenRows
    : (actions: tf.Tensor) => encoder.encode(actions) as tf.Tensor2D;
  const actionSize = sizeOf(encoder.observationShape);
  const { init, apply } = bodyWithHead(options, {
    actionSize,
    outputs: quantiles ?? 1,
  });
  const estimate: QFunction["estimate"] = (params, x, actions, inputs) =>
    tidy(() => {
      const { output, running } = apply(params, x, {
        ...inputs,
        actions: encode(actions),
      });
      const values = quantiles ? output : tf.reshape<tf.Rank.R1>(output, [-1]);
      return running === undefined ? { values } : { values, running };
    });
  return {
    init,
    estimate,
    apply: (params, observations, actions) =>
      tf.tidy(() => {
        const { values } = estimate(params, observations, actions);
        return (quantiles ? tf.mean(values, 1) : values) as tf.Tensor1D;
      }),
  };
}

/** Options of {@link discreteQFunction}. */
export interface DiscreteQFunctionOptions extends FunctionOptions {
  /** Action space. */
  readonly actionSpace: DiscreteSpace;
}

/** Q-function that computes the values of all discrete actions at once. */
export interface DiscreteQFunction {
  /** Makes initial parameters: `dense0/kernel`, ..., `head/kernel`, `head/bias`. */
  init(random: RandomSource): Params;
  /**
   * Computes Q-values.
   *
   * @param params Parameters as {@link init} makes them.
   * @param observations Encoded observations `[batch, ...]`.
   * @param inputs Dropout.
   * @returns Q-values `[batch, n]`.
   */
  apply(
    params: Params,
    observations: tf.Tensor,
    inputs?: Pick<LayerInputs, "dropout">,
  ): tf.Tensor2D;
}

/**
 * Makes a Q-function that computes the values of all actions of a discrete space: the
 * critic of discrete soft actor-critic and of Q-learning.
 *
 * @param options Spaces and layers.
 * @returns The function.
 * @throws {TypeError} If the observation space is a dict or tuple.
 * @throws {RangeError} If the network is recurrent, or its name, inputs or
 * options do not fit.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { discreteQFunction } from "@bellman/policies";
 * import { RandomStream } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const q = discreteQFunction({
 *   observationSpace: { type: "discrete", n: 5 },
 *   actionSpace: { type: "discrete", n: 3 },
 *   networkOptions: { hiddenSizes: [16] },
 * });
 * const params = q.init(new RandomStream(1));
 * assertEquals(q.apply(params, tf.eye(5)).shape, [5, 3]);
 * ```
 */
export function discreteQFunction(
  options: DiscreteQFunctionOptions,
): DiscreteQFunction {
  const { actionSpace } = options;
  const { init, apply } = bodyWithHead(options, { outputs: actionSpace.n });
  return {
    init,
    apply: (params, observations, inputs) =>
      apply(params, observations, inputs).output,
  };
}

/**
 * Gathers the Q-values of the actions taken.
 *
 * @param q Q-values of all actions `[batch, n]`, or `[batch, n, atoms]`.
 * @param actions Actions taken, int32 `[batch]`.
 * @param options Smallest action.
 * @returns Q-values `[batch]`, or `[batch, atoms]`.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { valuesOfActions } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const q = tf.tensor2d([[1, 2], [3, 4]]);
 * const taken = valuesOfActions(q, tf.tensor1d([1, 0], "int32"));
 * assertEquals(taken.arraySync(), [2, 3]);
 * ```
 */
export function valuesOfActions<Q extends tf.Tensor2D | tf.Tensor3D>(
  q: Q,
  actions: tf.Tensor,
  { start = 0 }: {
    /**
     * Smallest action.
     *
     * @default 0
     */
    readonly start?: number;
  } = {},
): Q extends tf.Tensor3D ? tf.Tensor2D : tf.Tensor1D {
  return tf.tidy(() => {
    // TensorFlow.js has no one-hot encoding of a single class.
    if (q.shape[1] === 1) return tf.squeeze(q, [1]);
    const index = start === 0
      ? actions
      : tf.sub(actions, tf.scalar(start, "int32"));
    const chosen = tf.cast(tf.oneHot(index, q.shape[1]), "float32");
    const each = q.rank === 3 ? tf.expandDims(chosen, 2) : chosen;
    return tf.sum(tf.mul(q, each), 1);
  });
}

/** Value function of an observation. */
export interface ValueFunction {
  /** Makes initial parameters: `dense0/kernel`, ..., `head/kernel`, `head/bias`. */
  init(random: RandomSource): Params;
  /**
   * Computes values.
   *
   * @param params Parameters as {@link init} makes them.
   * @param observations Encoded observations `[batch, ...]`.
   * @returns Values `[batch]`.
   */
  apply(params: Params, observations: tf.Tensor): tf.Tensor1D;
}

/**
 * Makes a state-value function, as in the first version of soft actor-critic (Haarnoja
 * et al. 2018, https://arxiv.org/abs/1801.01290).
 *
 * @param options Observation space and layers.
 * @returns The function.
 * @throws {TypeError} If the observation space is a dict or tuple.
 * @throws {RangeError} If the network is recurrent, or its name, inputs or
 * options do not fit.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { valueFunction } from "@bellman/policies";
 * import { RandomStream } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const v = valueFunction({
 *   observationSpace: {
 *     type: "box",
 *     shape: [3],
 *     low: -1,
 *     high: 1,
 *     dtype: "float32",
 *   },
 *   networkOptions: { hiddenSizes: [16, 16] },
 * });
 * const params = v.init(new RandomStream(1));
 * assertEquals(v.apply(params, tf.zeros([4, 3])).shape, [4]);
 * ```
 */
export function valueFunction(options: FunctionOptions): ValueFunction {
  const { init, apply } = bodyWithHead(options);
  return {
    init,
    apply: (params, observations) =>
      tf.tidy(() => tf.reshape(apply(params, observations).output, [-1])),
  };
}
