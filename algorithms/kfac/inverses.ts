import type { ArrayWithShape } from "@bellman/compute";
import { inverseSpd, symmetricEigen } from "@bellman/linear-algebra";

/**
 * Form in which the Fisher matrix is inverted:
 * - `inverse`: the inverses of the damped factors;
 * - `eigenbasis`: their eigenvectors and eigenvalues, damped at each step;
 * - `ekfac`: their eigenvectors, with second moments measured in that basis.
 */
export type KfacForm = "inverse" | "eigenbasis" | "ekfac";

/** Numbers of a layer's factors. */
export interface FactorArrays {
  /** Factor of the inputs, row-major. */
  readonly input: Float32Array;
  /** Factor of the output gradients, row-major. */
  readonly output: Float32Array;
}

/** Damping of the two factors of a layer. */
export interface FactoredDamping {
  /** Number on the diagonal of the factor of the inputs. */
  readonly input: number;
  /** Number on the diagonal of the factor of the output gradients. */
  readonly output: number;
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
  factors: FactorArrays,
  damping: number,
): FactoredDamping {
  const ratio = meanOfDiagonal(factors.input) / meanOfDiagonal(factors.output);
  const pi = ratio > 0 && Number.isFinite(ratio) ? Math.sqrt(ratio) : 1;
  const root = Math.sqrt(damping);
  return { input: pi * root, output: root / pi };
}

function meanOfDiagonal(matrix: Float32Array): number {
  const size = Math.round(Math.sqrt(matrix.length));
  let sum = 0;
  for (let i = 0; i < size; i++) sum += matrix[i * (size + 1)];
  return sum / size;
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
  factors: FactorArrays,
  { form, damping }: InvertOptions,
): Record<string, ArrayWithShape> {
  if (form === "inverse") {
    const added = factoredDamping(factors, damping);
    return {
      inverse_input: squareOf(inverseSpd(damped(factors.input, added.input))),
      inverse_output: squareOf(
        inverseSpd(damped(factors.output, added.output)),
      ),
    };
  }
  const input = eigen(factors.input), output = eigen(factors.output);
  const bases = {
    basis_input: squareOf(input.vectors),
    basis_output: squareOf(output.vectors),
  };
  const rows = input.values.length, columns = output.values.length;
  if (form === "eigenbasis") {
    return {
      ...bases,
      values_input: { data: input.values, shape: [rows] },
      values_output: { data: output.values, shape: [columns] },
    };
  }
  // The moments are measured from now on, and start as those of K-FAC.
  const moments = new Float32Array(rows * columns);
  for (let i = 0; i < moments.length; i++) {
    moments[i] = input.values[Math.floor(i / columns)] *
      output.values[i % columns];
  }
  return { ...bases, moments: { data: moments, shape: [rows, columns] } };
}

/** Adds a number to the diagonal, in double precision. */
function damped(matrix: Float32Array, damping: number): Float64Array {
  const sum = Float64Array.from(matrix);
  const size = Math.round(Math.sqrt(sum.length));
  for (let i = 0; i < size; i++) sum[i * (size + 1)] += damping;
  return sum;
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
