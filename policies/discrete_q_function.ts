import type * as tf from "@tensorflow/tfjs";
import type { Params } from "@bellman/compute";
import { bodyWithHead } from "./_body.ts";
import type { FunctionOptions } from "./function_options.ts";
import { observationEncoder } from "./observation_encoder.ts";
import type { DiscreteSpace, RandomSource } from "@bellman/types";

/** Options of {@link discreteQFunction}. */
export interface DiscreteQFunctionOptions extends FunctionOptions {
  /** Space of one action. */
  readonly actionSpace: DiscreteSpace;
}

/** Values of all actions in an observation. */
export interface DiscreteQFunction {
  /** Makes new parameters: `dense0/kernel`, ..., `head/kernel`, `head/bias`. */
  init(random: RandomSource): Params;
  /**
   * Computes values.
   *
   * @param params Parameters as {@link init} makes them.
   * @param observations Encoded observations `[batch, ...]`.
   * @returns Values `[batch, n]`.
   */
  apply(params: Params, observations: tf.Tensor): tf.Tensor2D;
}

/**
 * Makes a function of an observation that gives the values of all actions of a
 * discrete space: the critic of discrete soft actor-critic and of Q-learning.
 *
 * @param options Spaces and layers.
 * @returns The function.
 * @throws {TypeError} If the observation space is a dict or tuple.
 * @throws {RangeError} If the network is recurrent, or its name, inputs or
 * options do not fit.
 *
 * @example
 * ```ts
 * import { discreteQFunction } from "@bellman/policies";
 * import { RandomStream } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
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
  const { shape } = observationEncoder(options.observationSpace);
  const sizes = { actionSize: 0, outputs: options.actionSpace.n };
  return bodyWithHead(shape, sizes, options);
}
