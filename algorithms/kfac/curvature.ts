import { mapParams, type OptimizerState, type Params } from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";
import { averageWeights, batchFactors, eigenbasisMoments } from "./factors.ts";
import {
  type KfacLayer,
  layerPaths,
  layerSizes,
  layerSlot,
  layerTensors,
} from "./layers.ts";
import type { KfacOptions } from "./options.ts";
import type { FisherRows } from "./rows.ts";

/** Curvature of the loss: Fisher matrix in blocks, and damping. */
export interface Curvature extends
  Required<
    Pick<KfacOptions, "diagonal" | "dampingKind" | "form" | "average">
  > {
  /** Parameters in the order of a vector's elements, those of layers first. */
  readonly like: Params;
  readonly layers: readonly KfacLayer[];
  readonly state: OptimizerState;
}

/** Multiplies a layer's matrix by the inverse of its block of the Fisher matrix. */
function naturalMatrix(
  gradient: tf.Tensor2D,
  layer: KfacLayer,
  { state, dampingKind }: Curvature,
): tf.Tensor2D {
  const get = layerTensors(state, layer);
  const inverse = get("inverse_input");
  if (inverse !== undefined) {
    return tf.matMul(tf.matMul(inverse, gradient), get("inverse_output"));
  }
  const input = get("basis_input"), output = get("basis_output");
  // The eigenvalues include factored damping.
  const moments = dampingKind === "plain"
    ? tf.add<tf.Tensor2D>(get("moments"), state.damping)
    : get("moments");
  const [inputs, count] = input.shape;
  const inBasis = tf.matMul(tf.matMul(input, gradient, true), output);
  const back = (it: tf.Tensor2D): tf.Tensor2D =>
    tf.matMul(input, tf.matMul(it, output, false, true));
  if (count === inputs) return back(tf.div(inBasis, moments));
  // Scaled by the mean of the other eigenvalues, then corrected along the leading
  // eigenvectors.
  const [leading, rest] = tf.split(moments, [count, 1]);
  const byRest = tf.matMul(tf.div(output, rest), output, false, true);
  const correction = tf.sub(tf.div(inBasis, leading), tf.div(inBasis, rest));
  return tf.add(tf.matMul(gradient, byRest), back(correction as tf.Tensor2D));
}

/** Multiplies a vector by the inverse of the damped Fisher matrix. */
export function naturalVector(
  direction: tf.Tensor1D,
  curvature: Curvature,
): tf.Tensor1D {
  const { like, layers, diagonal, state } = curvature;
  const others = Object.keys(like).slice(layerPaths(layers).length);
  const sizes = layers.map((layer) => layerSizes(layer, like));
  const parts = tf.split(direction, [
    ...sizes.map(({ input, output }) => input * output),
    ...others.map((path) => like[path].size),
  ]);
  const blocks = parts.map((part, i) => {
    if (i >= layers.length) {
      const information = diagonal[others[i - layers.length]];
      return information === undefined
        ? part
        : tf.div(part, tf.add(state.damping, information));
    }
    const { input, output } = sizes[i];
    const matrix = tf.reshape<tf.Rank.R2>(part, [input, output]);
    return tf.reshape(naturalMatrix(matrix, layers[i], curvature), [-1]);
  });
  return tf.concat1d(blocks as tf.Tensor1D[]);
}

/** Computes the factors of a batch by slot, with their weight in the moving averages. */
export function weightedFactors(
  rows: FisherRows,
  { layers, state, average }: Curvature,
): Params {
  const { add: weight } = averageWeights(state.count as tf.Scalar, average);
  const factors: Params = {};
  for (const layer of layers) {
    const { input, output } = batchFactors(rows[layer.kernel], { weight });
    factors[layerSlot("input", layer)] = input;
    factors[layerSlot("output", layer)] = output;
  }
  return factors;
}

/**
 * Updates the moving averages of factors and moments with those of a batch, if
 * scheduled; otherwise the batch's need not be finite.
 */
export function movedAverages(
  rows: FisherRows,
  { factors, isDue, layers, state, average, form }: Curvature & {
    factors: Params;
    isDue: tf.Tensor;
  },
): OptimizerState {
  const { keep } = averageWeights(state.count as tf.Scalar, average);
  const { decay = 0.95 } = average;
  const moved = mapParams(
    factors,
    (it, slot) => tf.add(tf.mul(state[slot], keep), it),
  );
  moved.count = tf.add(state.count, 1);
  for (const layer of form === "ekfac" ? layers : []) {
    const get = layerTensors(state, layer), old = get("moments");
    const bases = { input: get("basis_input"), output: get("basis_output") };
    // Moments cover all eigenvectors, or none.
    if (bases.input.shape[0] > bases.input.shape[1]) continue;
    const batchMoments = eigenbasisMoments(rows[layer.kernel], bases);
    const slot = layerSlot("moments", layer);
    moved[slot] = tf.add(tf.mul(old, decay), tf.mul(batchMoments, 1 - decay));
  }
  return mapParams(moved, (it, slot) => tf.where(isDue, it, state[slot]));
}
