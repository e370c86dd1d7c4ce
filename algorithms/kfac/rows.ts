import { type Params, tidy } from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";
import {
  KernelObserver,
  type KernelUse,
  type Windows,
} from "./_kernel_observer.ts";
import { type KfacLayer, layerSizes, unknownLayer } from "./layers.ts";

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

/**
 * Computes the inputs of all layers and the gradients of the log-likelihood by
 * their outputs, in the same operations as the likelihood itself.
 *
 * @param logLikelihood Function of the parameters that gives one number for
 * each example.
 * @param params The parameters.
 * @param options The layers.
 * @returns New tensors by the paths of the kernels.
 * @throws {TypeError} If a layer's kernel is not used as one.
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
  { layers }: { layers: readonly KfacLayer[] },
): FisherRows {
  const observer = new KernelObserver(params);
  try {
    return rowsOfLayers(logLikelihood, params, { layers, observer });
  } finally {
    observer.release();
  }
}

function rowsOfLayers(
  logLikelihood: (params: Params) => tf.Tensor,
  params: Params,
  { layers, observer }: {
    layers: readonly KfacLayer[];
    observer: KernelObserver;
  },
): FisherRows {
  return tidy(() => {
    let examples = 0;
    // The outputs are known once the function has run: the list is read then.
    const outputs: tf.Tensor[] = [tf.scalar(0)];
    const { grads } = tf.engine().gradients(
      () => {
        const likelihood = observer.observe(() => logLikelihood(params));
        examples = likelihood.size;
        outputs.push(...observer.uses.flatMap(({ outputs }) => outputs));
        return tf.sum(likelihood) as tf.Tensor;
      },
      outputs,
      undefined,
      true,
    );
    const gradientOf = ({ outputs: all }: KernelUse) =>
      grads.find((it, i) => it && all.includes(outputs[i]));
    const rows: Record<string, LayerRows> = {};
    for (const layer of layers) {
      const { kernel } = layer;
      const uses = observer.uses.filter((it) => it.kernel === kernel);
      if (uses.length === 0) {
        throw unknownLayer(kernel, observer.elsewhere.get(kernel));
      }
      if (!uses.some(gradientOf)) {
        throw new TypeError(
          `Cannot make factors for the layer '${kernel}': the log-likelihood does not depend on it`,
        );
      }
      const columns = layerSizes(layer, params).outputs;
      rows[kernel] = rowsOf(layer, {
        inputs: uses.map(inputRows),
        gradients: uses.map((use) => {
          const gradient = gradientOf(use) ?? tf.zeros(use.outputs[0].shape);
          return tf.reshape(gradient, [-1, columns]) as tf.Tensor2D;
        }),
        examples,
      });
    }
    return rows;
  });
}

/** Joins the uses of a layer, and puts a 1 behind its inputs for the bias. */
function rowsOf(
  layer: KfacLayer,
  { inputs, gradients, examples }: {
    inputs: tf.Tensor2D[];
    gradients: tf.Tensor2D[];
    examples: number;
  },
): LayerRows {
  const all = inputs.length === 1 ? inputs[0] : tf.concat(inputs, 0);
  const [count] = all.shape;
  const positions = count / examples;
  return {
    inputs: layer.bias === undefined
      ? all
      : tf.concat([all, tf.ones<tf.Rank.R2>([count, 1])], 1),
    gradients: gradients.length === 1 ? gradients[0] : tf.concat(gradients, 0),
    // Steps of a recurrent layer are taken for examples of their own.
    positions: inputs.length === 1 && Number.isInteger(positions)
      ? positions
      : 1,
    examples,
  };
}

/** Returns what a use multiplies its kernel with, a row for each output row. */
function inputRows({ input, windows }: KernelUse): tf.Tensor2D {
  const rows = windows === undefined
    ? input
    : imagePatches(input as tf.Tensor4D, windows);
  return tf.reshape(rows, [-1, rows.shape[rows.shape.length - 1]]);
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
  // Padding behind is what the last place needs, as sizes may be rounded.
  const [bottom, right] = [
    (info.outHeight - 1) * down + info.effectiveFilterHeight - images.shape[1] -
    top,
    (info.outWidth - 1) * across + info.effectiveFilterWidth -
    images.shape[2] - left,
  ].map((it) => Math.max(0, it));
  return tidy(() => {
    const padded = top + bottom + left + right === 0
      ? images
      : tf.pad(images, [[0, 0], [top, bottom], [left, right], [0, 0]]);
    const parts: tf.Tensor4D[] = [];
    for (let i = 0; i < height; i++) {
      for (let j = 0; j < width; j++) {
        const y = i * info.dilationHeight, x = j * info.dilationWidth;
        parts.push(tf.stridedSlice(
          padded,
          [0, y, x, 0],
          [
            images.shape[0],
            y + (info.outHeight - 1) * down + 1,
            x + (info.outWidth - 1) * across + 1,
            channels,
          ],
          [1, down, across, 1],
        ) as tf.Tensor4D);
      }
    }
    return tf.concat(parts, 3);
  });
}
