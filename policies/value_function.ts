import * as tf from "@tensorflow/tfjs";
import type { Params } from "@bellman/compute";
import { bodyWithHead } from "./_body.ts";
import type { FunctionOptions } from "./function_options.ts";
import { observationEncoder } from "./observation_encoder.ts";
import type { RandomSource } from "@bellman/types";

/** Values of observations. */
export interface ValueFunction {
  /** Makes new parameters: `dense0/kernel`, ..., `head/kernel`, `head/bias`. */
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
 * Makes a function of an observation: the state value of soft actor-critic as
 * it was first described (Haarnoja et al. 2018,
 * https://arxiv.org/abs/1801.01290).
 *
 * @param options Observation space and layers.
 * @returns The function.
 * @throws {TypeError} If the observation space is a dict or tuple.
 * @throws {RangeError} If the network is recurrent, or its name, inputs or
 * options do not fit.
 *
 * @example
 * ```ts
 * import { valueFunction } from "@bellman/policies";
 * import { RandomStream } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
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
  const { shape } = observationEncoder(options.observationSpace);
  const sizes = { actionSize: 0, outputs: 1 };
  const { init, apply } = bodyWithHead(shape, sizes, options);
  return {
    init,
    apply: (params, observations) =>
      tf.tidy(() => tf.reshape(apply(params, observations), [-1])),
  };
}
