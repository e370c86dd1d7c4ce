import type { Optimizer } from "@bellman/compute";
import type { Precision } from "@bellman/linear-algebra";
import type { AverageOptions } from "./factors.ts";
import type { KfacForm } from "./layers.ts";
import type { FisherRowsOptions } from "./rows.ts";
import type { KfacScheduleOptions } from "./schedule.ts";

/** Bound of a step's length, measured by the Fisher matrix. */
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

/** Adaptation of the damping by how well the quadratic model predicts. */
export interface DampingAdaptation {
  /**
   * Updates between two changes.
   *
   * @default 5
   */
  readonly every?: number;
  /**
   * Factor of a change for each update, below 1.
   *
   * @default 0.95
   */
  readonly rate?: number;
}

/** Settings of `Kfac`. */
export interface KfacOptions
  extends KfacScheduleOptions, Omit<FisherRowsOptions, "layers"> {
  /**
   * Parameters in no layer: an error, or their plain gradient.
   *
   * @default "error"
   */
  readonly others?: "error" | "gradient";
  /**
   * Known Fisher information of each number of a parameter in no layer, by path:
   * its block of the Fisher matrix is that times the identity.
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
   * Most eigenvectors of a layer's inputs. A layer with more inputs has the
   * leading ones, in single precision, and the mean of the other eigenvalues for
   * all other directions; its moments are not measured in the form `ekfac`.
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
   * Levenberg-Marquardt adaptation of the damping; `apply` needs the objective.
   *
   * @default none
   */
  readonly adaptDamping?: DampingAdaptation;
  /**
   * Moving average of the factors.
   *
   * @default { kind: "zero_debiased", decay: 0.95 }
   */
  readonly average?: AverageOptions;
  /**
   * Bound of a step; null for none.
   *
   * @default { kind: "kl", limit: 0.001 }
   */
  readonly trustRegion?: TrustRegion | null;
  /**
   * Share of the velocity that each step keeps, from 0 to below 1.
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
   * Thread that inverts: the caller's, or one of its own, with a delay; both give
   * the same numbers.
   *
   * @default "place"
   */
  readonly invertIn?: "place" | "worker";
  /**
   * Precision in which factors are inverted: single takes half of the time for
   * large ones, and is exact to about the rounding of the factors' own numbers.
   *
   * @default "double"
   */
  readonly inversionPrecision?: Precision;
  /**
   * Takes warnings: one line for each layer whose factors cannot be inverted, and
   * one where a worker dies.
   *
   * @default console.warn
   */
  readonly onWarning?: (line: string) => void;
}

/**
 * Checks the ranges of settings, and which exclude each other.
 *
 * @throws {RangeError} If a setting lies outside of its range.
 * @throws {TypeError} If settings exclude each other.
 */
export function checkOptions(options: KfacOptions): void {
  const { damping, diagonal = {}, momentum, convolutionExamples } = options;
  const { exampleEvery, largestBasis, covUpdateEvery, coldUpdates } = options;
  const { invertEvery = 10, invertIn, inversionDelay = 0 } = options;
  const { rate, every } = options.adaptDamping ?? {};
  const limit = options.trustRegion?.limit, decay = options.average?.decay;
  const isWhole = Number.isInteger;
  const isCount = (it: number) => isWhole(it) && it >= 1;
  const isShare = (it: number) => it >= 0 && it < 1;
  const counts = { exampleEvery, covUpdateEvery, invertEvery, every };
  const shares = { momentum, decay, rate };
  check({ damping, limit }, "a number above 0", (it) => it > 0);
  check(diagonal, "a Fisher information above 0", (it) => it > 0);
  check(shares, "a number of at least 0 and below 1", isShare);
  check(counts, "a whole number of at least 1", isCount);
  const isLimit = (it: number) => it === Infinity || isCount(it);
  check({ largestBasis }, "a whole number of at least 1, or Infinity", isLimit);
  check({ convolutionExamples }, "a number of at least 2", (it) => it >= 2);
  const isCold = (it: number) => isWhole(it) && it >= 0;
  check({ coldUpdates }, "a whole number of at least 0", isCold);
  const least = invertIn === "worker" ? 1 : 0;
  const isDelay = (it: number) =>
    isWhole(it) && it >= least && it <= invertEvery;
  const delays = `a whole number from ${least} to ${invertEvery}`;
  check({ inversionDelay }, delays, isDelay);
  const { form = "inverse", dampingKind } = options;
  const wanted = form === "inverse" ? "factored" : "plain";
  if (form === "eigenbasis" || (dampingKind ?? wanted) === wanted) return;
  throw new TypeError(
    `Cannot use damping '${dampingKind}' in the form '${form}': expected '${wanted}', or form 'eigenbasis'`,
  );
}

/** Checks settings of one range by their names. */
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
