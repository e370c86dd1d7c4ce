import { checkOptions } from "@bellman/files/options";
import { numberKind, outOfRange } from "../models/_refuse.ts";
import {
  type BootstrapOptions,
  stratifiedBootstrap,
} from "@bellman/statistics/bootstrap";

/** Logged decision, and what another policy would do there. */
export interface EvaluationRow {
  /** Index of the action that was taken. */
  action: number;
  /** Its reward; left out where it never came. */
  reward?: number | null;
  /** Chance that the action was chosen with, above 0 and up to 1. */
  propensity: number;
  /** Chance of each action under the policy to evaluate, `[actions]`. */
  target: ArrayLike<number>;
  /** Reward of each action that a model predicts, `[actions]`: see `crossFit`. */
  predicted?: ArrayLike<number>;
}

/** Options of {@linkcode evaluate}. */
export interface EvaluateOptions {
  /**
   * Largest weight that `clipped` counts; larger ones are cut down to it.
   *
   * @default 10
   */
  clip?: number;
  /**
   * Weight above which `switchDr` trusts the predictions alone.
   *
   * @default 10
   */
  switchAt?: number;
  /**
   * Strength of `shrinkage`: the square of the weight that it halves.
   *
   * @default 100
   */
  shrinkage?: number;
  /** Intervals by resampling rows instead of by standard errors. */
  bootstrap?: BootstrapOptions;
}

/** Estimate of the mean reward of a policy. */
export interface PolicyValue {
  /** Mean reward; null where the log says nothing. */
  value: number | null;
  /** Its standard error; null with the value, and for one row. */
  standardError: number | null;
  /** Interval of confidence, of 95 % unless the bootstrap has another level. */
  interval: [low: number, high: number] | null;
}

/**
 * Name of an estimator: inverse propensity scores, the same `clipped` or self-normalized
 * (`snips`), the direct method (`dm`), doubly robust (`dr`), the same self-normalized
 * (`sndr`), with a switch (`switchDr`), or with optimistic `shrinkage`.
 */
export type Estimator =
  | "ips"
  | "clipped"
  | "snips"
  | "dm"
  | "dr"
  | "sndr"
  | "switchDr"
  | "shrinkage";

/** Result of {@linkcode evaluate}. */
export interface Evaluation {
  /** Estimates; those that need predictions are missing where rows have none. */
  estimates: Partial<Record<Estimator, PolicyValue>>;
  /** Number of rows that were evaluated. */
  rows: number;
  /** Number of rows without a reward, which are left out. */
  withoutReward: number;
  /** Number of rows of equal weight that would say as much. */
  effectiveSampleSize: number;
  /** Mean weight, 1 where propensities are right. */
  meanWeight: number;
  /** Largest weight. */
  maxWeight: number;
  /** Reasons to distrust the estimates, one sentence each. */
  warnings: string[];
}

/** A row in numbers: weight, reward, and predictions of the target and the action. */
type Row = Record<"w" | "r" | "v" | "q", number>;

/** Normal deviations of an interval of 95 %. */
const WIDTH = 1.959963984540054;
/**
 * Weights are called heavy where rows say as much as this share of them, or where the
 * largest weight is such a share of all and so many times the mean.
 */
const FEW = 0.2, LARGE = 0.02, TIMES = 5;

const ABOVE_0 = numberKind("a number above 0", (it) => it > 0);

function refuse(row: number, what: string, expected: string): never {
  throw outOfRange(`evaluate row ${row} with ${what}`, expected);
}

/** Checks a row, and computes its numbers. */
function numbersOf(row: EvaluationRow, at: number): Row {
  const { action, propensity, target, predicted } = row, r = row.reward!;
  if (!(propensity > 0 && propensity <= 1)) {
    refuse(at, `propensity ${propensity}`, "a number above 0, up to 1");
  }
  if (!Number.isFinite(r)) refuse(at, `reward ${r}`, "a finite number");
  if (!(Number.isInteger(action) && action >= 0 && action < target.length)) {
    refuse(at, `action ${action}`, `an index below ${target.length}`);
  }
  let sum = 0, v = 0;
  for (let i = 0; i < target.length; i++) {
    if (!(target[i] >= 0)) refuse(at, `a chance of ${target[i]}`, "at least 0");
    sum += target[i];
    if (predicted !== undefined) v += target[i] * predicted[i];
  }
  if (Math.abs(sum - 1) > 1e-6) {
    refuse(at, `chances that add up to ${sum}`, "1");
  }
  const q = predicted?.[action] ?? 0;
  if (!Number.isFinite(v) || predicted?.length === 0) {
    refuse(at, "such predictions", "one finite number for each action");
  }
  return { w: target[action] / propensity, r, v, q };
}

function sumOf(rows: readonly Row[], term: (row: Row) => number): number {
  let sum = 0;
  for (const row of rows) sum += term(row);
  return sum;
}

/**
 * Estimator: the mean of a base, and of a rest times the weights, which a self-normalized
 * one divides by the mean weight.
 */
interface Formula {
  base: (row: Row) => number;
  rest?: (row: Row) => number;
  isNormalized?: boolean;
}

function formulas(options: EvaluateOptions): Record<Estimator, Formula> {
  const { clip = 10, switchAt = 10, shrinkage: l = 100 } = options;
  const none = () => 0, predicted = ({ v }: Row) => v;
  const error = ({ r, q }: Row) => r - q, reward = ({ r }: Row) => r;
  return {
    ips: { base: none, rest: reward },
    clipped: { base: ({ w, r }) => Math.min(w, clip) * r },
    snips: { base: none, rest: reward, isNormalized: true },
    dm: { base: predicted },
    dr: { base: predicted, rest: error },
    sndr: { base: predicted, rest: error, isNormalized: true },
    switchDr: {
      base: predicted,
      rest: (row) => row.w <= switchAt ? error(row) : 0,
    },
    shrinkage: {
      base: predicted,
      rest: (row) => l / (row.w ** 2 + l) * error(row),
    },
  };
}

/** Computes an estimate, and the influence of each row on it. */
function compute(
  { base, rest = () => 0, isNormalized = false }: Formula,
  rows: readonly Row[],
): { value: number; influence: (row: Row) => number } {
  const n = rows.length,
    weight = isNormalized ? sumOf(rows, (it) => it.w) / n : 1;
  const mean = sumOf(rows, base) / n;
  const center = sumOf(rows, (it) => it.w * rest(it)) / n / weight;
  // The mean weight varies with the rows, too.
  const own = (row: Row) => isNormalized ? row.w * center / weight : center;
  const influence = (row: Row) =>
    base(row) - mean + row.w * rest(row) / weight - own(row);
  return { value: mean + center, influence };
}

function estimateBy(
  formula: Formula,
  rows: readonly Row[],
  bootstrap: BootstrapOptions | undefined,
): PolicyValue {
  const { value, influence } = compute(formula, rows), n = rows.length;
  if (!Number.isFinite(value)) {
    return { value: null, standardError: null, interval: null };
  }
  if (n < 2) return { value, standardError: null, interval: null };
  const squares = sumOf(rows, (it) => influence(it) ** 2);
  const standardError = Math.sqrt(squares / (n * (n - 1)));
  if (bootstrap === undefined) {
    const half = WIDTH * standardError;
    return { value, standardError, interval: [value - half, value + half] };
  }
  const { interval } = stratifiedBootstrap(rows.map((_, i) => [i]), (drawn) => {
    const found = compute(formula, drawn.map((it) => rows[it[0]])).value;
    // No row of a resample may have a weight.
    return Number.isFinite(found) ? found : value;
  }, bootstrap);
  return { value, standardError, interval };
}

/** Says what is suspicious about the weights. */
function warningsOf(
  rows: readonly Row[],
  { effectiveSampleSize, meanWeight, maxWeight, withoutReward }: Evaluation,
): string[] {
  const n = rows.length, warnings: string[] = [];
  if (withoutReward > 0) {
    warnings.push(
      `${withoutReward} decisions have no reward and are left out: estimates are wrong if that depends on the reward`,
    );
  }
  if (maxWeight === 0) {
    warnings.push(
      "The policy takes none of the logged actions: the log says nothing about it",
    );
    return warnings;
  }
  const spread = sumOf(rows, ({ w }) => (w - meanWeight) ** 2);
  const error = Math.sqrt(spread / (n * (n - 1)));
  if (Math.abs(meanWeight - 1) > Math.max(3 * error, 1e-9)) {
    const mean = meanWeight.toPrecision(3);
    warnings.push(
      `The mean weight is ${mean}, more than 3 standard errors from 1: propensities are wrong, or weights so heavy that these errors are too small`,
    );
  }
  const most = maxWeight / meanWeight;
  if (effectiveSampleSize < FEW * n || most > Math.max(LARGE * n, TIMES)) {
    const size = effectiveSampleSize.toFixed(0), max = maxWeight.toPrecision(3);
    warnings.push(
      `Weights are heavy: ${n} rows say as much as ${size}, the largest weight is ${max}; intervals may be too narrow`,
    );
  }
  return warnings;
}

/**
 * Estimates what a policy would have earned on average, of a log of another policy's
 * decisions with their propensities.
 *
 * A row's weight `w` is the target's chance of the logged action over its propensity, `v`
 * the predicted reward of the target, `q` that of the logged action. Estimates are means
 * of `w r` (ips), of `w (r - q) + v` (dr), and so on: see the README. `snips` and `sndr`
 * divide by the mean weight, in each resample anew.
 *
 * @param rows Logged decisions, at least one with a reward.
 * @param options Limits of weights, and the kind of intervals.
 * @returns Estimates with intervals, and warnings.
 * @throws {TypeError} If an option is unknown.
 * @throws {RangeError} If there are no rows, or a number is out of its range: the row is
 * named by its index.
 * @example
 * ```ts
 * import { evaluate } from "@bellman/bandits";
 * import { assertEquals } from "@std/assert";
 *
 * // A coin chose; the policy to evaluate always takes the second action.
 * const log = [[0, 1], [1, 3], [1, 5], [0, 1]];
 * const { estimates } = evaluate(log.map(([action, reward]) => ({
 *   action,
 *   reward,
 *   propensity: 0.5,
 *   target: [0, 1],
 * })));
 * assertEquals(estimates.snips?.value, 4);
 * ```
 */
export function evaluate(
  rows: readonly EvaluationRow[],
  options: EvaluateOptions = {},
): Evaluation {
  checkOptions("an evaluation", options, {
    clip: ABOVE_0,
    switchAt: ABOVE_0,
    shrinkage: ABOVE_0,
    bootstrap: ["object", "options of a bootstrap, such as { random }"],
  });
  const all = rows.flatMap((row, i) =>
    row.reward === undefined || row.reward === null ? [] : [numbersOf(row, i)]
  );
  if (all.length === 0) {
    throw outOfRange(`evaluate ${rows.length} rows`, "one with a reward");
  }
  const hasPredictions = rows.every((it) => it.predicted !== undefined);
  // Without predictions, the first three can be computed.
  const estimates = Object.fromEntries(
    Object.entries(formulas(options)).slice(0, hasPredictions ? 8 : 3)
      .map(([name, it]) => [name, estimateBy(it, all, options.bootstrap)]),
  );
  const weights = sumOf(all, ({ w }) => w);
  const squares = sumOf(all, ({ w }) => w * w);
  const evaluation: Evaluation = {
    estimates,
    rows: all.length,
    withoutReward: rows.length - all.length,
    effectiveSampleSize: squares === 0 ? 0 : weights ** 2 / squares,
    meanWeight: weights / all.length,
    maxWeight: all.reduce((most, { w }) => Math.max(most, w), 0),
    warnings: [],
  };
  evaluation.warnings = warningsOf(all, evaluation);
  return evaluation;
}
