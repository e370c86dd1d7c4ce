import type { Optimizer } from "@bellman/compute";
import type { Precision } from "@bellman/linear-algebra";
import type { AverageOptions } from "./factors.ts";
import type { KfacForm } from "./layers.ts";
import type { FisherRowsOptions } from "./rows.ts";
import type { KfacScheduleOptions } from "./schedule.ts";

/** Trust region: bound of a step, measured by the Fisher matrix. */
export interface TrustRegion {
  /**
   * - `kl`: `min(1, sqrt(2 limit / (lr^2 g'F^-1g)))`, the second-order KL
   *   divergence of Wu et al. 2017;
   * - `norm_constraint`: the same without the factor 2, as baselines' `kl_clip`
   *   and tensorflow/kfac.
   */
  readonly kind: "kl" | "norm_constraint";
  /** Bound, above 0. */
  readonly limit: number;
}

/** Settings of `Kfac`. */
export interface KfacOptions
  extends KfacScheduleOptions, Omit<FisherRowsOptions, "layers"> {
  /**
   * Handling of parameters in no layer: an error, or their plain gradient.
   *
   * @default "error"
   */
  readonly others?: "error" | "gradient";
  /**
   * Known Fisher information of the elements of a parameter in no layer, by path: its
   * block of the Fisher matrix is that times the identity.
   *
   * @default {}
   */
  readonly diagonal?: Readonly<Record<string, number>>;
  /**
   * Form of the inverse.
   *
   * @default "inverse"
   */
  readonly form?: KfacForm;
  /**
   * Largest number of eigenvectors of a layer's inputs. A layer with more inputs has
   * the leading ones, in single precision, and the mean of the other eigenvalues for
   * all other directions; the form `ekfac` does not measure its moments.
   *
   * @default Infinity
   */
  readonly largestBasis?: number;
  /**
   * Damping, added to the Fisher matrix, above 0.
   *
   * @default 0.01
   */
  readonly damping?: number;
  /**
   * - `factored`: over both factors, by their mean eigenvalues (Tikhonov with pi);
   * - `plain`: to the product of the eigenvalues; `ekfac` takes no other.
   *
   * @default "factored", and "plain" for ekfac
   */
  readonly dampingKind?: "factored" | "plain";
  /**
   * Moving average of the factors.
   *
   * @default { kind: "zero_debiased", decay: 0.95 }
   */
  readonly average?: AverageOptions;
  /**
   * Trust region; null for none.
   *
   * @default { kind: "kl", limit: 0.001 }
   */
  readonly trustRegion?: TrustRegion | null;
  /**
   * Momentum: fraction of the velocity that each step keeps, from 0 to below 1.
   *
   * @default 0.9
   */
  readonly momentum?: number;
  /**
   * - `regular`: `v = m v + step`, `w = w - lr v`;
   * - `averaged`: the same with `lr (1 - m)`, as baselines' ACKTR;
   * - `adam`: of the gradients, before they are made natural (tensorflow/kfac).
   *
   * @default "regular"
   */
  readonly momentumKind?: "regular" | "averaged" | "adam";
  /**
   * Optimizer of the cold updates.
   *
   * @default sgd()
   */
  readonly coldOptimizer?: Optimizer;
  /**
   * Precision of inversions: single takes half of the time for large factors, with
   * errors of about the rounding of the factors themselves.
   *
   * @default "double"
   */
  readonly inversionPrecision?: Precision;
  /**
   * Called with one line for each layer whose factors cannot be inverted.
   *
   * @default console.warn
   */
  readonly onWarning?: (line: string) => void;
}

/**
 * Checks the ranges and the combination of settings.
 *
 * @throws {RangeError} If a setting lies outside its range.
 * @throws {TypeError} If settings exclude each other.
 */
export function checkOptions(options: KfacOptions): void {
  const { damping, diagonal = {}, momentum, convolutionExamples } = options;
  const { largestBasis, covUpdateEvery, invertEvery, coldUpdates } = options;
  const limit = options.trustRegion?.limit, decay = options.average?.decay;
  const isWhole = Number.isInteger;
  const isCount = (it: number) => isWhole(it) && it >= 1;
  const isShare = (it: number) => it >= 0 && it < 1;
  check({ damping, limit }, "a number above 0", (it) => it > 0);
  check(diagonal, "a Fisher information above 0", (it) => it > 0);
  check({ momentum, decay }, "a number of at least 0 and below 1", isShare);
  const counts = { covUpdateEvery, invertEvery };
  check(counts, "a whole number of at least 1", isCount);
  const isLimit = (it: number) => it === Infinity || isCount(it);
  check({ largestBasis }, "a whole number of at least 1, or Infinity", isLimit);
  check({ convolutionExamples }, "a number of at least 2", (it) => it >= 2);
  const isCold = (it: number) => isWhole(it) && it >= 0;
  check({ coldUpdates }, "a whole number of at least 0", isCold);
  const { form = "inverse", dampingKind } = options;
  const wanted = form === "inverse" ? "factored" : "plain";
  if (form === "eigenbasis" || (dampingKind ?? wanted) === wanted) return;
  throw new TypeError(
    `Cannot use damping '${dampingKind}' in the form '${form}': expected '${wanted}', or form 'eigenbasis'`,
  );
}

/** Checks settings with the same range. */
function check(
  settings: Record<string, number | undefined>,
  wanted: string,
  isRight: (value: number) => boolean,
): void {
  for (const [name, value] of Object.entries(settings)) {
    if (value === undefined || isRight(value)) continue;
    throw new RangeError(
      `Cannot make K-FAC with ${name} = ${value}: expected ${wanted}`,
    );
  }
}
