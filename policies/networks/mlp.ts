import * as tf from "@tensorflow/tfjs";
import type { Params } from "@bellman/compute";
import type { RandomSource } from "@bellman/types";
import {
  denseLayer,
  flattenRows,
  initLayer,
  normalizeRows,
  sizeOf,
} from "./_layers.ts";
import { orthogonal } from "./initializers.ts";
import {
  type Activation,
  activationFunction,
  type BiasInitializer,
  type Initializer,
  type Network,
  type NetworkInputs,
  type NetworkOutput,
  parameter,
} from "./network.ts";

/** Options of {@link mlp}. */
export interface MlpOptions {
  /** Shape of one input; inputs of more than one axis are flattened. */
  readonly inputShape: readonly number[];
  /**
   * Units of each hidden layer.
   *
   * @default [64, 64]
   */
  readonly hiddenSizes?: readonly number[];
  /**
   * Function after each hidden layer.
   *
   * @default "tanh"
   */
  readonly activation?: Activation;
  /**
   * Normalise each layer over its units before the activation.
   *
   * @default false
   */
  readonly layerNorm?: boolean;
  /**
   * First values of the kernels.
   *
   * @default orthogonal(Math.SQRT2)
   */
  readonly kernelInitializer?: Initializer;
  /**
   * First values of the biases.
   *
   * @default zeros
   */
  readonly biasInitializer?: BiasInitializer;
}

/**
 * Makes a network of fully connected layers, by default the two layers of 64
 * tanh units of baselines. Parameters: `dense0/kernel [in, out]`,
 * `dense0/bias`, and with layer normalisation `dense0/gain`, `dense0/shift`.
 *
 * @param options Sizes and functions.
 * @returns The network.
 * @throws {RangeError} If there is no activation of that name.
 *
 * @example
 * ```ts
 * import { mlp } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * const network = mlp({ inputShape: [4], hiddenSizes: [64, 32] });
 * assertEquals(network.outputSize, 32);
 * assertEquals(network.stateSize, 0);
 * ```
 */
export function mlp(options: MlpOptions): Network {
  const {
    inputShape,
    hiddenSizes = [64, 64],
    activation = "tanh",
    layerNorm = false,
    kernelInitializer = orthogonal(Math.SQRT2),
    biasInitializer,
  } = options;
  const activate = activationFunction(activation);
  const sizes = [sizeOf(inputShape), ...hiddenSizes];
  const initializers = { kernelInitializer, biasInitializer };

  function init(random: RandomSource): Params {
    const params: Params = {};
    for (let i = 0; i + 1 < sizes.length; i++) {
      const shape = [sizes[i], sizes[i + 1]], name = `dense${i}`;
      Object.assign(params, initLayer(name, shape, initializers, random));
      if (!layerNorm) continue;
      params[`${name}/gain`] = tf.ones([sizes[i + 1]]);
      params[`${name}/shift`] = tf.zeros([sizes[i + 1]]);
    }
    return params;
  }

  function apply(params: Params, inputs: NetworkInputs): NetworkOutput {
    const output = tf.tidy(() => {
      let h = flattenRows(inputs.x);
      for (let i = 0; i < hiddenSizes.length; i++) {
        h = denseLayer(params, `dense${i}`, h);
        if (layerNorm) {
          h = normalizeRows(
            h,
            parameter(params, `dense${i}/gain`),
            parameter(params, `dense${i}/shift`),
          );
        }
        h = activate(h) as tf.Tensor2D;
      }
      return h;
    });
    return { output };
  }

  const outputSize = sizes[sizes.length - 1];
  return { inputShape, outputSize, stateSize: 0, init, apply };
}
