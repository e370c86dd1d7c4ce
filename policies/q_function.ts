import * as tf from "@tensorflow/tfjs";
import type { Params } from "@bellman/compute";
import { bodyWithHead } from "./_body.ts";
import type { FunctionOptions } from "./function_options.ts";
import { flattenRows, sizeOf } from "./_layers.ts";
import { observationEncoder } from "./observation_encoder.ts";
import type { BoxSpace, RandomSource } from "@bellman/types";

/** Options of {@link qFunction}. */
export interface QFunctionOptions extends FunctionOptions {
  /** Space of one action. */
  readonly actionSpace: BoxSpace;
}

/** Values of pairs of an observation and an action. */
export interface QFunction {
  /** Makes new parameters: `dense0/kernel`, ..., `head/kernel`, `head/bias`. */
  init(random: RandomSource): Params;
  /**
   * Computes values.
   *
   * @param params Parameters as {@link init} makes them.
   * @param observations Encoded observations `[batch, ...]`.
   * @param actions Actions `[batch, ...shape]`, as the policy gives them.
   * @returns Values `[batch]`.
   */
  apply(
    params: Params,
    observations: tf.Tensor,
    actions: tf.Tensor,
  ): tf.Tensor1D;
}

/**
 * Makes a function of an observation and a box action: the critic of soft
 * actor-critic. For twins, make two sets of parameters with one function, and
 * keep them under names of their own by {@link nest} and {@link scope}.
 *
 * @param options Spaces and layers.
 * @returns The function.
 * @throws {TypeError} If the observation space is a dict or tuple.
 * @throws {RangeError} If the network is recurrent, or its name, inputs or
 * options do not fit.
 *
 * @example
 * ```ts
 * import { nest, qFunction, scope } from "@bellman/policies";
 * import { RandomStream } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const box = { type: "box", low: -1, high: 1, dtype: "float32" } as const;
 * const q = qFunction({
 *   observationSpace: { ...box, shape: [3] },
 *   actionSpace: { ...box, shape: [2] },
 * });
 * const random = new RandomStream(1);
 * const twins = { ...nest(q.init(random), "qf1"), ...nest(q.init(random), "qf2") };
 * const [observations, actions] = [tf.ones([4, 3]), tf.ones([4, 2])];
 * const values = ["qf1", "qf2"].map((name) =>
 *   q.apply(scope(twins, name), observations, actions)
 * );
 * assertEquals(values.map((it) => it.shape), [[4], [4]]);
 * ```
 */
export function qFunction(options: QFunctionOptions): QFunction {
  const { shape } = observationEncoder(options.observationSpace);
  const sizes = { actionSize: sizeOf(options.actionSpace.shape), outputs: 1 };
  const { init, apply } = bodyWithHead(shape, sizes, options);
  return {
    init,
    apply: (params, observations, actions) =>
      tf.tidy(() =>
        tf.reshape(apply(params, observations, flattenRows(actions)), [-1])
      ),
  };
}
