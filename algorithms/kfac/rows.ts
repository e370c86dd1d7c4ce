import {
  extractPatches,
  layerTags,
  type Params,
  tidy,
  type WeightUse,
} from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";
import type { KfacLayer } from "./layers.ts";

/** Inputs and output gradients of a layer for one batch. */
export interface LayerRows {
  /** Inputs `[rows, inputs]`; with a bias the last column is 1. */
  readonly inputs: tf.Tensor2D;
  /**
   * Gradients of each example's log-likelihood with respect to the outputs `[rows,
   * outputs]`.
   */
  readonly gradients: tf.Tensor2D;
  /** Consecutive rows of one example: positions of a convolution. */
  readonly positions: number;
  /** Number of examples. */
  readonly examples: number;
}

/** {@link LayerRows} of every layer, by the paths of the kernels. */
export type FisherRows = Readonly<Record<string, LayerRows>>;

/** Options of {@link fisherRows}. */
export interface FisherRowsOptions {
  /** Layers of the network. */
  readonly layers: readonly KfacLayer[];
  /**
   * Largest number of examples for a convolution, which has a row for every position.
   *
   * @default Infinity
   */
  readonly convolutionExamples?: number;
}

/**
 * Computes the inputs of all layers and the gradients of the log-likelihood with
 * respect to their outputs, in the same operations as the likelihood itself.
 *
 * @param logLikelihood Log-likelihood of each example, as a function of the parameters.
 * @param params The parameters.
 * @param options The layers, and the number of examples.
 * @returns New tensors by the paths of the kernels.
 * @throws {TypeError} If a layer's kernel is not used in a layer.
 * @throws {RangeError} If there are fewer than two examples: the factors of one
 * have rank one.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { fisherRows } from "@bellman/kfac";
 * import { assertEquals } from "@std/assert";
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
  { layers, convolutionExamples = Infinity }: FisherRowsOptions,
): FisherRows {
  return tidy(() => {
    const { value, uses } = layerTags(logLikelihood, params);
    const rows: Record<string, LayerRows> = {};
    for (const layer of layers) {
      const { kernel } = layer;
      const layerUses = uses.filter(({ weight }) => weight === kernel);
      if (layerUses.length === 0) {
        throw new TypeError(
          `Cannot make factors for the layer '${kernel}': the log-likelihood has no tf.matMul(x, w) or tf.conv2d(x, w) with it`,
        );
      }
      const isConvolution = layerUses.some(({ windows }) => windows);
      const most = isConvolution ? convolutionExamples : Infinity;
      const every = Math.max(1, Math.ceil(value.size / most));
      rows[kernel] = layerRows(layer, layerUses, { batch: value.size, every });
    }
    return rows;
  });
}

/** Joins the rows of a layer's uses, with a column of 1 for the bias. */
function layerRows(
  { kernel, bias }: KfacLayer,
  uses: readonly WeightUse[],
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
  const rowsOfAll = (take: (use: WeightUse) => tf.Tensor) =>
    tf.concat(uses.map((use) => rowsOf(take(use))), 0);
  const taken = (tensor: tf.Tensor) => everyNth(tensor, { batch, every });
  const withOne = bias !== undefined;
  const inputs = rowsOfAll(({ input, windows }) =>
    windows
      ? extractPatches(taken(input) as tf.Tensor4D, windows, { withOne })
      : input
  );
  const needsOne = withOne && uses.every(({ windows }) => !windows);
  // Steps of a recurrent layer are separate examples.
  const positions = uses.length > 1 ? 1 : inputs.shape[0] / examples;
  return {
    inputs: needsOne
      ? tf.concat2d([inputs, tf.ones([inputs.shape[0], 1])], 1)
      : inputs,
    gradients: rowsOfAll((use) => {
      const { windows, gradient = tf.zeros([...use.shape]) } = use;
      return windows ? taken(gradient) : gradient;
    }),
    positions: Number.isInteger(positions) ? positions : 1,
    examples,
  };
}

function rowsOf(tensor: tf.Tensor): tf.Tensor2D {
  return tf.reshape(tensor, [-1, tensor.shape[tensor.rank - 1]]);
}

/** Takes every nth example with all its rows, or every nth row if no example has as many. */
function everyNth(
  tensor: tf.Tensor,
  { batch, every }: { batch: number; every: number },
): tf.Tensor {
  if (every === 1) return tensor;
  const [rows, ...shape] = tensor.shape;
  const examples = rows % batch === 0 ? batch : rows;
  const taken = tf.range(0, examples, every, "int32");
  const flat = tf.gather(tf.reshape(tensor, [examples, -1]), taken);
  return tf.reshape(flat, [-1, ...shape]);
}
