import type { ArrayWithShape, OptimizerState } from "@bellman/compute";
import { inverseSpd, symmetricEigen } from "@bellman/linear-algebra";
import * as tf from "@tensorflow/tfjs";
import { factoredDamping, splitDamping } from "./damping.ts";
import {
  type FactorPair,
  type KfacLayer,
  type LayerSizes,
  layerSlot,
} from "./layers.ts";
import type { KfacForm } from "./options.ts";

/** Returns the shapes of the slots that hold a layer's factors and inverse. */
export function slotShapes(
  { inputs, outputs }: LayerSizes,
  form: KfacForm,
): Record<string, number[]> {
  const input = [inputs, inputs], output = [outputs, outputs];
  if (form === "inverse") {
    return { input, output, inverse_input: input, inverse_output: output };
  }
  const bases = { input, output, basis_input: input, basis_output: output };
  return form === "ekfac"
    ? { ...bases, moments: [inputs, outputs] }
    : { ...bases, values_input: [inputs], values_output: [outputs] };
}

/** Options of {@link invertFactors}. */
export interface InvertOptions {
  /** Form of the result. */
  readonly form: KfacForm;
  /** Damping; the eigenbasis is found without. */
  readonly damping: number;
}

/**
 * Inverts a layer's factors, or finds their eigenvectors.
 *
 * @param factors The factors.
 * @param options Form and damping.
 * @returns Arrays by the slots of the optimizer's state: `inverse_input` and
 * `inverse_output`, or `basis_...` with `values_...`, or with `moments`.
 * @throws {RangeError} If a factor is not finite, or not positive definite even
 * with its damping.
 *
 * @example
 * ```ts
 * import { invertFactors } from "@bellman/kfac";
 * import { assertEquals } from "@std/assert";
 *
 * const made = invertFactors({
 *   input: Float32Array.of(3),
 *   output: Float32Array.of(3),
 * }, { form: "inverse", damping: 1 });
 * assertEquals(made.inverse_input.data, Float32Array.of(0.25));
 * ```
 */
export function invertFactors(
  factors: FactorPair<Float32Array>,
  { form, damping }: InvertOptions,
): Record<string, ArrayWithShape> {
  if (form === "inverse") {
    const added = factoredDamping(factors, damping);
    return {
      inverse_input: dampedInverse(factors.input, added.input),
      inverse_output: dampedInverse(factors.output, added.output),
    };
  }
  const input = eigen(factors.input), output = eigen(factors.output);
  const bases = {
    basis_input: squareOf(input.vectors),
    basis_output: squareOf(output.vectors),
  };
  const rows = input.values.length, columns = output.values.length;
  if (form === "eigenbasis") {
    const values_input = { data: input.values, shape: [rows] };
    const values_output = { data: output.values, shape: [columns] };
    return { ...bases, values_input, values_output };
  }
  // The moments are measured from now on, and start as those of K-FAC.
  const data = new Float32Array(rows * columns).map((_, at) =>
    input.values[Math.floor(at / columns)] * output.values[at % columns]
  );
  return { ...bases, moments: { data, shape: [rows, columns] } };
}

/** Inverts a matrix and a number on its diagonal, in double precision. */
function dampedInverse(matrix: Float32Array, damping: number): ArrayWithShape {
  const sum = Float64Array.from(matrix);
  const size = Math.round(Math.sqrt(sum.length));
  for (let i = 0; i < size; i++) sum[i * (size + 1)] += damping;
  return squareOf(inverseSpd(sum));
}

/** Finds eigenvectors and eigenvalues; rounding makes none negative. */
function eigen(matrix: Float32Array) {
  const { values, vectors } = symmetricEigen(matrix);
  return { vectors, values: values.map((it) => Math.max(it, 0)) };
}

function squareOf(matrix: Float64Array | Float32Array): ArrayWithShape {
  const size = Math.round(Math.sqrt(matrix.length));
  return { data: Float32Array.from(matrix), shape: [size, size] };
}

/**
 * Multiplies a layer's gradient with the inverse of its damped block of the
 * Fisher matrix.
 */
export function precondition(
  layer: KfacLayer,
  gradient: tf.Tensor2D,
  { state, form, dampingKind }: {
    state: OptimizerState;
    form: KfacForm;
    dampingKind: "factored" | "plain";
  },
): tf.Tensor2D {
  const of = (name: string) => state[layerSlot(name, layer)] as tf.Tensor2D;
  if (form === "inverse") {
    const left = tf.matMul(of("inverse_input"), gradient);
    return tf.matMul(left, of("inverse_output"));
  }
  const input = of("basis_input"), output = of("basis_output");
  const inBasis = tf.matMul(tf.matMul(input, gradient, true), output);
  const scaled = tf.div<tf.Tensor2D>(
    inBasis,
    form === "ekfac"
      ? tf.add(of("moments"), state.damping)
      : dampedProduct(of, state.damping, dampingKind),
  );
  return tf.matMul(tf.matMul(input, scaled), output, false, true);
}

/** Computes the damped eigenvalues of a block, as the layer's matrix lies. */
function dampedProduct(
  of: (name: string) => tf.Tensor,
  damping: tf.Tensor,
  kind: "factored" | "plain",
): tf.Tensor {
  const input = tf.reshape(of("values_input"), [-1, 1]);
  const output = tf.reshape(of("values_output"), [1, -1]);
  if (kind === "plain") return tf.add(tf.mul(input, output), damping);
  const means = { input: tf.mean(input), output: tf.mean(output) };
  const added = splitDamping(damping, means);
  return tf.mul(tf.add(input, added.input), tf.add(output, added.output));
}
