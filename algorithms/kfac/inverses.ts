import type { ArrayWithShape } from "@bellman/compute";
import {
  inverseSpd,
  type MatrixArray,
  type Precision,
  symmetricEigen,
} from "@bellman/linear-algebra";
import type { FactorPair } from "./layers.ts";
import type { KfacForm } from "./options.ts";

/** Returns the form of a layer with some number of inputs. */
export function formOf(
  inputs: number,
  { form, largestBasis }: { form: KfacForm; largestBasis: number },
): KfacForm {
  return inputs > largestBasis ? "inverse" : form;
}

/** Returns the shapes of the slots that hold a layer's factors and inverse. */
export function slotShapes(
  sizes: FactorPair<number>,
  form: KfacForm,
): Record<string, number[]> {
  const input = [sizes.input, sizes.input];
  const output = [sizes.output, sizes.output];
  if (form === "inverse") {
    return { input, output, inverse_input: input, inverse_output: output };
  }
  const moments = [sizes.input, sizes.output];
  return { input, output, basis_input: input, basis_output: output, moments };
}

/** Options of {@link invertFactors}. */
export interface InvertOptions {
  /** Form of the result. */
  readonly form: KfacForm;
  /** Factored damping; 0 where it is added to the product at each step. */
  readonly damping: number;
  /**
   * Precision in which the factors are inverted.
   *
   * @default "double"
   */
  readonly precision?: Precision;
}

/**
 * Inverts a layer's factors, or finds their eigenvectors.
 *
 * @param factors The factors.
 * @param options Form and damping.
 * @returns Arrays by the slots of the optimizer's state: `inverse_input` and
 * `inverse_output`, or `basis_...` and `moments`, the products of the eigenvalues.
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
  { form, damping, precision }: InvertOptions,
): Record<string, ArrayWithShape> {
  const added = factoredDamping(factors, damping);
  if (form === "inverse") {
    const inverse = (name: "input" | "output") => {
      const Numbers = precision === "single" ? Float32Array : Float64Array;
      const sum: MatrixArray = Numbers.from(factors[name]);
      const step = Math.sqrt(sum.length) + 1;
      for (let i = 0; i < sum.length; i += step) sum[i] += added[name];
      return squareOf(inverseSpd(sum, { precision }));
    };
    return {
      inverse_input: inverse("input"),
      inverse_output: inverse("output"),
    };
  }
  const input = symmetricEigen(factors.input, { precision });
  const output = symmetricEigen(factors.output, { precision });
  // Rounding makes no eigenvalue negative.
  const left = input.values.map((it) => Math.max(it, 0) + added.input);
  const right = output.values.map((it) => Math.max(it, 0) + added.output);
  const rows = left.length, columns = right.length;
  const data = new Float32Array(rows * columns);
  left.forEach((value, i) =>
    data.set(right.map((it) => value * it), i * columns)
  );
  return {
    basis_input: squareOf(input.vectors),
    basis_output: squareOf(output.vectors),
    moments: { data, shape: [rows, columns] },
  };
}

/**
 * Splits a damping over two factors: `pi sqrt(damping)` for the inputs and
 * `sqrt(damping) / pi` for the output gradients, where `pi^2` is the ratio of
 * the factors' mean eigenvalues (factored Tikhonov damping).
 *
 * Source: Martens & Grosse 2015 (https://arxiv.org/abs/1503.05671), section 6.3.
 *
 * @param factors The factors.
 * @param damping Damping of their product, above 0.
 * @returns The damping of each; where a factor is 0, both are the root.
 *
 * @example
 * ```ts
 * import { factoredDamping } from "@bellman/kfac";
 * import { assertEquals } from "@std/assert";
 *
 * const damping = factoredDamping({
 *   input: Float32Array.of(8, 0, 0, 8),
 *   output: Float32Array.of(2),
 * }, 0.25);
 * assertEquals(damping, { input: 1, output: 0.25 });
 * ```
 */
export function factoredDamping(
  factors: FactorPair<Float32Array>,
  damping: number,
): FactorPair<number> {
  const ratio = meanOfDiagonal(factors.input) / meanOfDiagonal(factors.output);
  const pi = ratio > 0 && Number.isFinite(ratio) ? Math.sqrt(ratio) : 1;
  const root = Math.sqrt(damping);
  return { input: pi * root, output: root / pi };
}

/** Computes the mean of a matrix's diagonal. */
function meanOfDiagonal(matrix: Float32Array): number {
  const size = Math.round(Math.sqrt(matrix.length));
  let sum = 0;
  for (let i = 0; i < size; i++) sum += matrix[i * (size + 1)];
  return sum / size;
}

function squareOf(matrix: MatrixArray): ArrayWithShape {
  const size = Math.round(Math.sqrt(matrix.length));
  return { data: Float32Array.from(matrix), shape: [size, size] };
}
