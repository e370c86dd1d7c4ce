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
  const gradientOf = (use: KernelUse, grads: tf.Tensor[]) =>
    grads.find((it, i) => it && use.outputs.includes(outputs[i]));
  try {
    return tidy(() => {
      outputs.push(tf.scalar(0));
      const engine = tf.engine();
      const { grads } = engine.gradients(forward, outputs, undefined, true);
      const rows: Record<string, LayerRows> = {};
      for (const layer of layers) {
        const { kernel } = layer;
        const uses = observer.uses.filter((it) => it.kernel === kernel);
        if (uses.length === 0) {
          throw unknownLayer(kernel, observer.elsewhere.get(kernel));
        }
        if (!uses.some((use) => gradientOf(use, grads))) {
          throw new TypeError(
            `Cannot make factors for the layer '${kernel}': the log-likelihood does not depend on it`,
          );
        }
        const every = uses.some(({ windows }) => windows !== undefined)
          ? Math.max(exampleEvery, Math.ceil(batch / convolutionExamples))
          : exampleEvery;
        const examples = Math.ceil(batch / every);
        if (examples < 2) {
          throw new RangeError(
            `Cannot make factors of ${examples} example: expected a log-likelihood of one number for each of at least 2 examples`,
          );
        }
        const inputs = uses.map((use) => inputRows(use, every));
        const gradients = uses.map((use) => {
          const gradient = gradientOf(use, grads);
          const given = gradient ?? tf.zeros(use.outputs[0].shape);
          const rows = use.windows === undefined ? rowsOf(given) : given;
          return rowsOf(everyNth(rows, every));
        });
        rows[kernel] = joined(layer, {
          inputs: tf.concat(inputs, 0),
          gradients: tf.concat(gradients, 0),
          // Steps of a recurrent layer are taken for examples of their own.
          positions: uses.length > 1 ? 1 : inputs[0].shape[0],
          examples,
        });
      }
      return rows;
    });
  } finally {
    observer.release();
  }
}

/** Counts an example's rows, and puts a 1 behind the inputs for the bias. */
function joined({ bias }: KfacLayer, rows: LayerRows): LayerRows {
  const positions = rows.positions / rows.examples, { inputs } = rows;
  const ones = tf.ones<tf.Rank.R2>([inputs.shape[0], 1]);
  return {
    ...rows,
    inputs: bias === undefined ? inputs : tf.concat([inputs, ones], 1),
    positions: Number.isInteger(positions) ? positions : 1,
  };
}

function rowsOf(tensor: tf.Tensor): tf.Tensor2D {
  return tf.reshape(tensor, [-1, tensor.shape[tensor.rank - 1]]);
}

function everyNth<T extends tf.Tensor>(tensor: T, every: number): T {
  if (every === 1) return tensor;
  const steps = tensor.shape.map((_, axis) => axis === 0 ? every : 1);
  return tf.stridedSlice(tensor, steps.map(() => 0), tensor.shape, steps) as T;
}

/** Returns what a use multiplies its kernel with, a row for each output row. */
function inputRows({ input, windows }: KernelUse, every: number): tf.Tensor2D {
  if (windows === undefined) return everyNth(rowsOf(input), every);
  return rowsOf(imagePatches(everyNth(input as tf.Tensor4D, every), windows));
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
  const behind = [bottom, right].map((it) => Math.max(0, it));
  return tidy(() => {
    const pads = [[0, 0], [top, behind[0]], [left, behind[1]], [0, 0]];
    const padded = tf.pad(images, pads as [number, number][]);
    const parts: tf.Tensor4D[] = [];
    for (let i = 0; i < height; i++) {
      for (let j = 0; j < width; j++) {
        const y = i * info.dilationHeight, x = j * info.dilationWidth;
        const end = [images.shape[0], y + rows, x + columns, channels];
        const steps = [1, down, across, 1];
        parts.push(
          tf.stridedSlice(padded, [0, y, x, 0], end, steps) as tf.Tensor4D,
        );
      }
    }
    return tf.concat(parts, 3);
  });
}
