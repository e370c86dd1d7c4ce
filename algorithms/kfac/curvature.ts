import type { OptimizerState, Params } from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";
import {
  type AverageOptions,
  averageWeights,
  eigenbasisMoments,
} from "./factors.ts";
import { type KfacLayer, layerSizes, layerSlot } from "./layers.ts";
import type { KfacForm } from "./options.ts";
import type { FisherRows } from "./rows.ts";

/** Inverses in the state, and the damping that they are of. */
interface Preconditioner {
  readonly state: OptimizerState;
  readonly dampingKind: "factored" | "plain";
}

/**
 * Multiplies a vector with the inverse of the damped Fisher matrix.
 *
 * @param direction Numbers of the parameters: matrices of the layers, one after
 * the other, then those of no layer.
 * @param options Parameters in this order, layers, known Fisher information.
 */
export function naturalVector(
  direction: tf.Tensor1D,
  options: Preconditioner & {
    readonly like: Params;
    readonly layers: readonly KfacLayer[];
    readonly diagonal: Readonly<Record<string, number>>;
  },
): tf.Tensor1D {
  const { like, layers, diagonal, state } = options;
  const inLayers = new Set(
    layers.flatMap(({ kernel, bias }) => [kernel, bias]),
  );
  const others = Object.keys(like).filter((path) => !inLayers.has(path));
  const sizes = layers.map((layer) => layerSizes(layer, like));
  const parts = tf.split(direction, [
    ...sizes.map(({ inputs, outputs }) => inputs * outputs),
    ...others.map((path) => like[path].size),
  ]);
  const natural = parts.map((part, i) => {
    if (i < layers.length) {
      const { inputs, outputs } = sizes[i];
      const matrix = tf.reshape<tf.Rank.R2>(part, [inputs, outputs]);
      return tf.reshape(precondition(layers[i], matrix, options), [-1]);
    }
    const information = diagonal[others[i - layers.length]];
    if (information === undefined) return part;
    return tf.div(part, tf.add(state.damping, information));
  });
  return tf.concat1d(natural as tf.Tensor1D[]);
}

/**
 * Multiplies a layer's gradient with the inverse of its damped block of the
 * Fisher matrix.
 */
function precondition(
  layer: KfacLayer,
  gradient: tf.Tensor2D,
  { state, dampingKind }: Preconditioner,
): tf.Tensor2D {
  const of = (name: string) => state[layerSlot(name, layer)] as tf.Tensor2D;
  const inverse = of("inverse_input");
  if (inverse !== undefined) {
    return tf.matMul(tf.matMul(inverse, gradient), of("inverse_output"));
  }
  const input = of("basis_input"), output = of("basis_output");
  const inBasis = tf.matMul(tf.matMul(input, gradient, true), output);
  // A factored damping is in the eigenvalues.
  const moments = dampingKind === "plain"
    ? tf.add(of("moments"), state.damping)
    : of("moments");
  const scaled = tf.div<tf.Tensor2D>(inBasis, moments);
  return tf.matMul(tf.matMul(input, scaled), output, false, true);
}

/**
 * Moves the averages of factors and moments by those of a batch, where that is
 * due: its numbers need not be finite where it is not.
 */
export function movedAverages(
  rows: FisherRows,
  { layers, state, average, form, isDue }: {
    layers: readonly KfacLayer[];
    state: OptimizerState;
    average: AverageOptions;
    form: KfacForm;
    isDue: tf.Tensor;
  },
): OptimizerState {
  const due = (it: tf.Tensor, otherwise: tf.Tensor | number) =>
    tf.where(isDue, it, otherwise) as tf.Tensor;
  const { keep, add } = averageWeights(state.count as tf.Scalar, average);
  const kept = due(keep, 1), { decay = 0.95 } = average;
  const next = { count: due(tf.add(state.count, 1), state.count) };
  const move = (slot: string, rows: tf.Tensor2D, count: number) => {
    // A weight in the rows costs less than one in their product.
    const weighted = tf.mul<tf.Tensor2D>(
      due(rows, 0),
      tf.sqrt(tf.div(add, count)),
    );
    const squares = tf.matMul(weighted, weighted, true);
    Object.assign(next, { [slot]: tf.add(tf.mul(state[slot], kept), squares) });
  };
  for (const layer of layers) {
    const of = (name: string) => layerSlot(name, layer);
    const own = rows[layer.kernel];
    move(of("input"), own.inputs, own.examples);
    move(of("output"), own.gradients, own.gradients.shape[0]);
    const old = state[of("moments")];
    if (form !== "ekfac" || old === undefined) continue;
    const moments = eigenbasisMoments(own, {
      input: state[of("basis_input")] as tf.Tensor2D,
      output: state[of("basis_output")] as tf.Tensor2D,
    });
    const moved = tf.add(tf.mul(old, decay), tf.mul(moments, 1 - decay));
    Object.assign(next, { [of("moments")]: due(moved, old) });
  }
  return next;
}
