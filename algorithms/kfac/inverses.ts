import type { ArrayWithShape } from "@bellman/compute";
import {
  inverseSpd,
  type LeadingEigen,
  leadingEigen,
  type Precision,
  symmetricEigen,
} from "@bellman/linear-algebra";
import type { FactorPair, KfacForm } from "./layers.ts";

/** Options of {@link invertFactors}. */
export interface InvertOptions {
  /** Form of the result. */
  readonly form: KfacForm;
  /** Factored damping; 0 if damping is added to the product at each step. */
  readonly damping: number;
  /**
   * Precision in which the factors are inverted.
   *
   * @default "double"
   */
  readonly precision?: Precision;
  /**
   * Largest number of eigenvectors of the inputs; a larger factor has the leading ones,
   * and one more moment for each output, with the mean of its other eigenvalues.
   *
   * @default Infinity
   */
  readonly largestBasis?: number;
  /**
   * Previous eigenvectors of the inputs, to start from if only some are computed.
   *
   * @default none
   */
  readonly start?: Float32Array;
}

/**
 * Inverts a layer's factors, or computes all or the leading eigenvectors.
 *
 * @param factors The factors.
 * @param options Form, damping and precision.
 * @returns Arrays by slots of the optimizer state: `inverse_input` and
 * `inverse_output`, or `basis_...` and `moments`, the products of the eigenvalues.
 * @throws {RangeError} If a factor is not finite, or not positive definite even with
 * damping.
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
  { form, damping, precision, largestBasis = Infinity, start }: InvertOptions,
): Record<string, ArrayWithShape> {
  const added = factoredDamping(factors, damping);
  if (form === "inverse") {
    const inverse = (name: "input" | "output") =>
      matrixOf(inverseSpd(factors[name], { precision, shift: added[name] }));
    return {
      inverse_input: inverse("input"),
      inverse_output: inverse("output"),
    };
  }
  const isWhole = Math.sqrt(factors.input.length) <= largestBasis;
  const { values, vectors, rest }: LeadingEigen<Float32Array> = isWhole
    ? { ...symmetricEigen(factors.input, { precision }), rest: 0 }
    : leadingEigen(factors.input, largestBasis, { precision: "single", start });
  const output = symmetricEigen(factors.output, { precision });
  // Rounding may make eigenvalues negative.
  const left = [...values, ...(isWhole ? [] : [rest])]
    .map((it) => Math.max(it, 0) + added.input);
  const right = output.values.map((it) => Math.max(it, 0) + added.output);
  const moments = new Float32Array(left.length * right.length);
  left.forEach((value, i) =>
    moments.set(right.map((it) => value * it), i * right.length)
  );
  return {
    basis_input: matrixOf(vectors, values.length),
    basis_output: matrixOf(output.vectors),
    moments: matrixOf(moments, right.length),
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
 * @param damping Damping of the product, above 0.
 * @returns Damping of each factor; `sqrt(damping)` for both if a factor is 0.
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

function matrixOf(
  data: Float32Array,
  columns: number = Math.round(Math.sqrt(data.length)),
): ArrayWithShape {
  return { data, shape: [data.length / columns, columns] };
}
