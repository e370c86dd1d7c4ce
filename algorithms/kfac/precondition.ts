import type { OptimizerState, Params } from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";
import { type KfacLayer, layerSizes, layerSlot } from "./layers.ts";
import { formOf } from "./inverses.ts";
import type { KfacForm } from "./options.ts";

/** Inverses in the state, and the settings that they are of. */
interface Preconditioner {
  readonly state: OptimizerState;
  readonly form: KfacForm;
  readonly largestBasis: number;
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
  { state, dampingKind, ...options }: Preconditioner,
): tf.Tensor2D {
  const of = (name: string) => state[layerSlot(name, layer)] as tf.Tensor2D;
  if (formOf(gradient.shape[0], options) === "inverse") {
    const left = tf.matMul(of("inverse_input"), gradient);
    return tf.matMul(left, of("inverse_output"));
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
