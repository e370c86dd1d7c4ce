import * as tf from "@tensorflow/tfjs";
import type { Params } from "@bellman/compute";
import type { RandomSource } from "@bellman/types";
import {
  activationFunction,
  channelAxis,
  denseLayer,
  flattenRows,
  initLayer,
  sizeOf,
} from "./_layers.ts";
import { orthogonal } from "./initializers.ts";
import {
  type Activation,
  type BiasInitializer,
  type Initializer,
  type Network,
  type NetworkInputs,
  type NetworkOutput,
  parameter,
} from "./network.ts";

/** Options of {@link mlp}. */
export interface MlpOptions {
  /** Shape of one input; inputs with several axes are flattened. */
  readonly inputShape: readonly number[];
  /**
   * Units of each hidden layer.
   *
   * @default [64, 64]
   */
  readonly hiddenSizes?: readonly number[];
  /**
   * Activation after each hidden layer.
   *
   * @default "tanh"
   */
  readonly activation?: Activation;
  /**
   * Initializer of the kernels.
   *
   * @default orthogonal(Math.SQRT2)
   */
  readonly kernelInitializer?: Initializer;
  /**
   * Initializer of the biases.
   *
   * @default zeros
   */
  readonly biasInitializer?: BiasInitializer;
}

/**
 * Makes a multilayer perceptron, by default baselines' two layers of 64 tanh units.
 * Parameters: `dense0/kernel [in, out]`, `dense0/bias` and so on.
 *
 * @param options Sizes, activation and initializers.
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
    }
    return params;
  }

  function apply(params: Params, inputs: NetworkInputs): NetworkOutput {
    const output = tf.tidy(() => {
      let h = flattenRows(inputs.x);
      for (let i = 0; i < hiddenSizes.length; i++) {
        h = activate(denseLayer(params, `dense${i}`, h)) as tf.Tensor2D;
      }
      return h;
    });
    return { output };
  }

  const outputSize = sizes[sizes.length - 1];
  return { inputShape, outputSize, stateSize: 0, init, apply };
}

/** Convolution layer: number of filters, kernel size and stride in pixels. */
export type ConvLayer = readonly [
  filters: number,
  size: number,
  stride: number,
];

/** Options of {@link cnn}, {@link cnnSmall} and {@link convOnly}. */
export interface CnnOptions {
  /** Shape of one image `[height, width, channels]`. */
  readonly inputShape: readonly number[];
  /**
   * The convolution layers.
   *
   * @default those of the network's name
   */
  readonly convLayers?: readonly ConvLayer[];
  /**
   * Units of the fully connected layer after the convolutions, 0 for none.
   *
   * @default that of the network's name
   */
  readonly denseSize?: number;
  /**
   * Activation after each layer.
   *
   * @default "relu"
   */
  readonly activation?: Activation;
  /**
   * Padding of the image: none (`valid`), or with zeros (`same`).
   *
   * @default "valid" (`convOnly`: "same")
   */
  readonly padding?: "valid" | "same";
  /**
   * Initializer of the kernels.
   *
   * @default orthogonal(Math.SQRT2)
   */
  readonly kernelInitializer?: Initializer;
  /**
   * Initializer of the biases.
   *
   * @default zeros
   */
  readonly biasInitializer?: BiasInitializer;
}

/** Convolutions of the Nature paper. */
const NATURE: readonly ConvLayer[] = [[32, 8, 4], [64, 4, 2], [64, 3, 1]];
const SMALL: readonly ConvLayer[] = [[8, 8, 4], [16, 4, 2]];

/**
 * Makes the convolutional network of Mnih et al. 2015 (Nature 518), as in baselines
 * (common/models.py, `nature_cnn`): 32 filters of 8x8 with stride 4, 64 of 4x4 with
 * stride 2, 64 of 3x3 with stride 1, then 512 units; relu after each. Parameters:
 * `conv0/kernel [height, width, in, out]`, `conv0/bias`, `dense0/kernel` and so on.
 *
 * @param options Shape of the images and changes to the layers.
 * @returns The network.
 * @throws {RangeError} If the inputs are not images, or too small for the
 * layers.
 *
 * @example
 * ```ts
 * import { cnn } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * const network = cnn({ inputShape: [84, 84, 4] });
 * assertEquals(network.outputSize, 512);
 * ```
 */
export function cnn(options: CnnOptions): Network {
  return convolutions(options, NATURE, { denseSize: 512, padding: "valid" });
}

/**
 * Makes a smaller convolutional network (baselines, common/models.py, `cnn_small`): 8
 * filters of 8x8 with stride 4, 16 of 4x4 with stride 2, then 128 units; relu after
 * each. Parameters are named as those of {@link cnn}.
 *
 * @param options Shape of the images and changes to the layers.
 * @returns The network.
 * @throws {RangeError} If the inputs are not images, or too small for the
 * layers.
 */
export function cnnSmall(options: CnnOptions): Network {
  return convolutions(options, SMALL, { denseSize: 128, padding: "valid" });
}

/**
 * Makes a network of convolutions only, with flattened features (baselines,
 * common/models.py, `conv_only`): by default those of {@link cnn}, with zero padding.
 *
 * @param options Shape of the images and the layers.
 * @returns The network.
 * @throws {RangeError} If the inputs are not images, or too small for the
 * layers.
 */
export function convOnly(options: CnnOptions): Network {
  return convolutions(options, NATURE, { denseSize: 0, padding: "same" });
}

function convolutions(
  options: CnnOptions,
  layers: readonly ConvLayer[],
  defaults: { denseSize: number; padding: "valid" | "same" },
): Network {
  const {
    inputShape,
    convLayers = layers,
    denseSize = defaults.denseSize,
    padding = defaults.padding,
    activation = "relu",
    kernelInitializer = orthogonal(Math.SQRT2),
    biasInitializer,
  } = options;
  const activate = activationFunction(activation);
  const flatSize = flatFeatures(inputShape, convLayers, padding);
  const initializers = { kernelInitializer, biasInitializer };

  function init(random: RandomSource): Params {
    const params: Params = {};
    let channels = inputShape[2];
    convLayers.forEach(([filters, size], i) => {
      const shape = [size, size, channels, filters];
      const layer = initLayer(`conv${i}`, shape, initializers, random);
      Object.assign(params, layer);
      channels = filters;
    });
    if (denseSize > 0) {
      const shape = [flatSize, denseSize];
      Object.assign(params, initLayer("dense0", shape, initializers, random));
    }
    return params;
  }

  function apply(params: Params, inputs: NetworkInputs): NetworkOutput {
    const output = tf.tidy(() => {
      let x = inputs.x as tf.Tensor4D;
      convLayers.forEach(([, , strides], i) => {
        const kernel = parameter<tf.Tensor4D>(params, `conv${i}/kernel`);
        const y = tf.conv2d(x, kernel, strides, padding);
        x = activate(
          tf.add(y, parameter(params, `conv${i}/bias`)),
        ) as tf.Tensor4D;
      });
      const flat = flattenRows(x);
      if (denseSize === 0) return flat;
      return activate(denseLayer(params, "dense0", flat)) as tf.Tensor2D;
    });
    return { output };
  }

  const outputSize = denseSize || flatSize;
  return { inputShape, outputSize, stateSize: 0, init, apply };
}

/** Counts the features after the convolutions; throws if the image is too small. */
function flatFeatures(
  inputShape: readonly number[],
  layers: readonly ConvLayer[],
  padding: "valid" | "same",
): number {
  const place = channelAxis(inputShape);
  if (place !== undefined || inputShape.length !== 3) {
    const hint = place === undefined
      ? ""
      : ", as ChannelsLast around the environment makes them; or network: mlp (flat for a part), where they are no images";
    throw new RangeError(
      `Cannot convolve inputs of shape [${inputShape}]: images must be [height, width, channels]${hint}`,
    );
  }
  const after = (length: number) =>
    layers.reduce(
      (n, [, size, stride]) =>
        Math.ceil((padding === "same" ? n : n - size + 1) / stride),
      length,
    );
  const [height, width] = [after(inputShape[0]), after(inputShape[1])];
  if (!(height > 0 && width > 0)) {
    throw new RangeError(
      `Cannot convolve images of ${inputShape[0]}x${inputShape[1]} pixels: ` +
        `they are too small for the layers`,
    );
  }
  const channels = layers.length === 0
    ? inputShape[2]
    : layers[layers.length - 1][0];
  return height * width * channels;
}
