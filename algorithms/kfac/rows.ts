import { type Params, tidy } from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";
import {
  KernelObserver,
  type KernelUse,
  type Windows,
} from "./_kernel_observer.ts";
import { type KfacLayer, unknownLayer } from "./layers.ts";

export type { Windows };

/** Inputs and output gradients of a layer for one batch. */
export interface LayerRows {
  /** Inputs `[rows, inputs]`, the last column 1 where there is a bias. */
  readonly inputs: tf.Tensor2D;
  /** Gradients of each example's log-likelihood by the outputs `[rows, outputs]`. */
  readonly gradients: tf.Tensor2D;
  /** Rows of one example that follow each other: places of a convolution. */
  readonly positions: number;
  /** Examples of the batch. */
  readonly examples: number;
}

/** {@link LayerRows} of every layer, by the paths of the kernels. */
export type FisherRows = Readonly<Record<string, LayerRows>>;

/** Use of a kernel, and the gradient by its outputs where there is one. */
type DifferentiatedUse = KernelUse & { readonly gradient?: tf.Tensor };

/** Options of {@link fisherRows}. */
export interface FisherRowsOptions {
  /** Layers of the network. */
  readonly layers: readonly KfacLayer[];
  /**
   * Examples between two that are taken, each `exampleEvery`th.
   *
   * @default 1
   */
  readonly exampleEvery?: number;
  /**
   * Most examples of a convolution, which has a row for every place.
   *
   * @default Infinity
   */
  readonly convolutionExamples?: number;
}

/**
 * Computes the inputs of all layers and the gradients of the log-likelihood by
 * their outputs, in the same operations as the likelihood itself.
 *
 * @param logLikelihood Function of the parameters that gives one number for
 * each example.
 * @param params The parameters.
 * @param options The layers, and which examples are taken.
 * @returns New tensors by the paths of the kernels.
 * @throws {TypeError} If a layer's kernel is not used as one.
 * @throws {RangeError} If there are fewer than two examples: the factors of one
 * have rank one.
 *
 * @example
 * ```ts
 * import { fisherRows } from "@bellman/kfac";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const x = tf.tensor2d([[1, 2], [3, 4]]);
 * const rows = fisherRows(
 *   ({ w }) => tf.mul(tf.matMul(x, w), tf.tensor2d([[5], [7]])),
 *   { w: tf.zeros([2, 1]) },
 *   { layers: [{ kernel: "w" }] },
 * );
 * assertEquals(rows.w.inputs.arraySync(), [[1, 2], [3, 4]]);
 * assertEquals(rows.w.gradients.arraySync(), [[5], [7]]);
 * ```
 */
export function fisherRows(
  logLikelihood: (params: Params) => tf.Tensor,
  params: Params,
  { layers, exampleEvery = 1, convolutionExamples = Infinity }:
    FisherRowsOptions,
): FisherRows {
  const observer = new KernelObserver(params);
  let batch = 0;
  // The outputs are known once the function has run: the list is read then.
  const outputs: tf.Tensor[] = [];
  const forward = (): tf.Tensor => {
    const likelihood = observer.observe(() => logLikelihood(params));
    batch = likelihood.size;
    outputs.push(...observer.uses.flatMap((use) => use.outputs));
    return tf.sum(likelihood);
  };
  try {
    return tidy(() => {
      outputs.push(tf.scalar(0));
      const engine = tf.engine();
      const { grads } = engine.gradients(forward, outputs, undefined, true);
      const gradientOf = (use: KernelUse) =>
        grads.find((it, i) => it && use.outputs.includes(outputs[i]));
      const rows: Record<string, LayerRows> = {};
      for (const layer of layers) {
        const { kernel } = layer;
        const uses = observer.uses.filter((it) => it.kernel === kernel)
          .map((use) => ({ ...use, gradient: gradientOf(use) }));
        if (uses.length === 0) {
          throw unknownLayer(kernel, observer.elsewhere.get(kernel));
        }
        const isConvolution = uses.some(({ windows }) => windows);
        const every = isConvolution
          ? Math.max(exampleEvery, Math.ceil(batch / convolutionExamples))
          : exampleEvery;
        rows[kernel] = layerRows(layer, uses, { batch, every });
      }
      return rows;
    });
  } finally {
    observer.release();
  }
}

/** Joins the rows of a layer's uses, with a 1 behind the inputs for the bias. */
function layerRows(
  { kernel, bias }: KfacLayer,
  uses: readonly DifferentiatedUse[],
  { batch, every }: { batch: number; every: number },
): LayerRows {
  const examples = Math.ceil(batch / every);
  if (uses.every(({ gradient }) => gradient === undefined)) {
    throw new TypeError(
      `Cannot make factors for the layer '${kernel}': the log-likelihood does not depend on it`,
    );
  }
  if (examples < 2) {
    throw new RangeError(
      `Cannot make factors of ${examples} example: expected a log-likelihood of one number for each of at least 2 examples`,
    );
  }
  const rows = uses.map((use) => rowsOfUse(use, every));
  const inputs = tf.concat(rows.map((it) => it.inputs), 0);
  const ones = tf.ones<tf.Rank.R2>([inputs.shape[0], 1]);
  // Steps of a recurrent layer are taken for examples of their own.
  const positions = uses.length > 1 ? 1 : inputs.shape[0] / examples;
  return {
    inputs: bias === undefined ? inputs : tf.concat([inputs, ones], 1),
    gradients: tf.concat(rows.map((it) => it.gradients), 0),
    positions: Number.isInteger(positions) ? positions : 1,
    examples,
  };
}

/** Takes the rows of every nth example, or of every nth row of a product. */
function rowsOfUse(
  { input, gradient, outputs, windows }: DifferentiatedUse,
  every: number,
): Pick<LayerRows, "inputs" | "gradients"> {
  const gradients = gradient ?? tf.zeros(outputs[0].shape);
  const [a, g] = [input, gradients]
    .map((it) => everyNth(windows ? it : rowsOf(it), every));
  const inputs = windows ? imagePatches(a as tf.Tensor4D, windows) : a;
  return { inputs: rowsOf(inputs), gradients: rowsOf(g) };
}

function rowsOf(tensor: tf.Tensor): tf.Tensor2D {
  return tf.reshape(tensor, [-1, tensor.shape[tensor.rank - 1]]);
}

function everyNth(tensor: tf.Tensor, every: number): tf.Tensor {
  if (every === 1) return tensor;
  const steps = tensor.shape.map((_, axis) => axis === 0 ? every : 1);
  return tf.stridedSlice(tensor, steps.map(() => 0), tensor.shape, steps);
}

/**
 * Computes what a convolution multiplies its filters with at each place, in the
 * filters' order: height, width, channel.
 *
 * @param images Images `[batch, height, width, channels]`.
 * @param windows Settings of the convolution.
 * @returns Patches `[batch, outHeight, outWidth, filterHeight * filterWidth *
 * channels]`.
 *
 * @example
 * ```ts
 * import { imagePatches } from "@bellman/kfac";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const images = tf.tensor4d([1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 3, 3, 1]);
 * const patches = imagePatches(images, {
 *   filterSize: [2, 2],
 *   strides: 1,
 *   pad: "valid",
 * });
 * assertEquals(patches.shape, [1, 2, 2, 4]);
 * assertEquals([...patches.dataSync()].slice(0, 4), [1, 2, 4, 5]);
 * ```
 */
export function imagePatches(
  images: tf.Tensor4D,
  windows: Windows,
): tf.Tensor4D {
  const { filterSize: [height, width], strides, pad, dilations } = windows;
  const channels = images.shape[3];
  const info = tf.backend_util.computeConv2DInfo(
    images.shape,
    [height, width, channels, 1],
    strides,
    dilations ?? 1,
    pad,
    windows.dimRoundingMode,
  );
  const { strideHeight: down, strideWidth: across, padInfo } = info;
  const { top, left } = padInfo;
  const rows = (info.outHeight - 1) * down + 1;
  const columns = (info.outWidth - 1) * across + 1;
  // Padding behind is what the last place needs, as sizes may be rounded.
  const bottom = rows + info.effectiveFilterHeight - 1 - top - images.shape[1];
  const right = columns + info.effectiveFilterWidth - 1 - left -
    images.shape[2];
  const pads: [number, number][] = [
    [0, 0],
    [top, Math.max(0, bottom)],
    [left, Math.max(0, right)],
    [0, 0],
  ];
  return tidy(() => {
    const padded = tf.pad(images, pads);
    const steps = [1, down, across, 1];
    const parts = Array.from({ length: height * width }, (_, place) => {
      const y = Math.floor(place / width) * info.dilationHeight;
      const x = (place % width) * info.dilationWidth;
      const end = [images.shape[0], y + rows, x + columns, channels];
      return tf.stridedSlice(padded, [0, y, x, 0], end, steps);
    });
    return tf.concat(parts, 3) as tf.Tensor4D;
  });
}
