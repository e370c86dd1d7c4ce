import type { OptimizerState, Params } from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";
import { type KfacLayer, layerMatrix, layerSlot } from "./layers.ts";
import type { DampingAdaptation } from "./options.ts";

/** Sums the products of two maps' numbers. */
function innerProduct(a: Params, b: Params): tf.Scalar {
  const terms = Object.keys(a).map((path) => tf.sum(tf.mul(a[path], b[path])));
  return tf.addN(terms) as tf.Scalar;
}

/**
 * Computes the change of the loss that the quadratic model predicts for a step,
 * `-g'd + d'(F + damping) d / 2` for parameters that `d` is subtracted from.
 *
 * Source: Martens & Grosse 2015, section 6.5.
 */
export function predictedChange(
  gradients: Params,
  change: Params,
  { layers, diagonal, state }: {
    layers: readonly KfacLayer[];
    diagonal: Readonly<Record<string, number>>;
    state: OptimizerState;
  },
): tf.Tensor {
  const squares = [tf.mul(innerProduct(change, change), state.damping)];
  for (const layer of layers) {
    const matrix = layerMatrix(layer, change);
    const input = state[layerSlot("input", layer)] as tf.Tensor2D;
    const output = state[layerSlot("output", layer)] as tf.Tensor2D;
    const product = tf.matMul(tf.matMul(input, matrix), output);
    squares.push(tf.sum(tf.mul(matrix, product)));
  }
  for (const path in diagonal) {
    squares.push(tf.mul(tf.sum(tf.square(change[path])), diagonal[path]));
  }
  const curved = tf.mul(tf.addN(squares), 0.5);
  return tf.sub(curved, innerProduct(gradients, change));
}

/**
 * Moves the damping by the ratio of the actual and the predicted change of the
 * loss: down above 3/4, up below 1/4 and where it is no number.
 */
export function adaptedDamping(
  damping: tf.Tensor,
  ratio: tf.Tensor,
  { every = 5, rate = 0.95, minimum = 1e-8 }: DampingAdaptation,
): tf.Tensor {
  const power = rate ** every;
  const isGood = tf.greater(ratio, 0.75);
  const isFair = tf.greaterEqual(ratio, 0.25);
  const factor = tf.where(isGood, power, tf.where(isFair, 1, 1 / power));
  return tf.maximum(tf.mul(damping, factor), minimum);
}
