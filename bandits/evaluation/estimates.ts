import { checkOptions } from "@bellman/files/options";
import {
  isModerate,
  MODERATE,
  outOfRange,
  POSITIVE,
  shown,
} from "../models/_refuse.ts";
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
  /** Chance that the action was chosen with, from 1e-30 to 1. */
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
  /**
   * Intervals by resampling rows instead of by standard errors, such as
   * `{ random: new RandomStream(seedWords(1)) }` of `@bellman/random`.
   */
  bootstrap?: BootstrapOptions;
}

/** Estimate of the mean reward of a policy. */
export interface PolicyValue {
  /** Mean reward; null where the log says nothing. */
  value: number | null;
  /** Its standard error; null with the value, and for one row. */
  standardError: number | null;
  /**
   * Interval of confidence, of 95 % unless the bootstrap has another level. That of `dm`
   * takes predictions as true, and is too narrow.
   */
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

/** Checks a row, and computes its numbers. */
function numbersOf(row: EvaluationRow, at: number): Row {
  const { action, propensity, target, predicted } = row, r = row.reward!;
  const check = (isFine: boolean, what: string, expected: string) => {
    if (!isFine) throw outOfRange(`evaluate row ${at} with ${what}`, expected);
  };
  const { length = 0 } = Object(target) as ArrayLike<number>;
  // Squares of larger weights might overflow.
  const isChance = propensity >= 1e-30 && propensity <= 1;
  check(isChance, `propensity ${propensity}`, "a number from 1e-30 to 1");
  check(isModerate(r), `reward ${shown(r)}`, MODERATE);
  const isIndex = Number.isInteger(action) && action >= 0 && action < length;
  check(isIndex, `action ${shown(action)}`, `an index below ${length}`);
  let sum = 0, v = 0;
  for (let i = 0; i < length; i++) {
    check(target[i] >= 0, `a chance of ${target[i]}`, "at least 0");
    sum += target[i];
    if (predicted) v += target[i] * predicted[i];
  }
  check(Math.abs(sum - 1) < 1e-6, `chances that add up to ${sum}`, "1");
  const isPredicted = !predicted ||
    predicted.length === length && Number.isFinite(v);
  check(isPredicted, "such predictions", "one finite number for each action");
  return { w: target[action] / propensity, r, v, q: predicted?.[action] ?? 0 };
}

function sumOf<T>(rows: readonly T[], term: (row: T) => number): number {
  let sum = 0;
  for (const row of rows) sum += term(row);
  return sum;
}

type Limits = Required<Omit<EvaluateOptions, "bootstrap">>;

/** Parts of what an estimator takes the mean of: the weight multiplies the second. */
const PARTS: Record<
  Estimator,
  (row: Row, limits: Limits) => readonly [base: number, rest: number]
> = {
  ips: ({ r }) => [0, r],
  clipped: ({ w, r }, { clip }) => [Math.min(w, clip) * r, 0],
  snips: ({ r }) => [0, r],
  dm: ({ v }) => [v, 0],
  dr: ({ v, r, q }) => [v, r - q],
  sndr: ({ v, r, q }) => [v, r - q],
  switchDr: ({ w, v, r, q }, { switchAt }) => [v, w <= switchAt ? r - q : 0],
  shrinkage: ({ w, v, r, q }, { shrinkage: l }) => [
    v,
    l / (w * w + l) * (r - q),
  ],
};

/** Term of an estimate: weight, base and rest. */
type Term = readonly [w: number, base: number, rest: number];

/** Computes an estimate, and the influence of each term on it. */
function compute(
  terms: readonly Term[],
  isNormalized: boolean,
): { value: number; influence: (term: Term) => number } {
  const meanOf = (part: (term: Term) => number) =>
    sumOf(terms, part) / terms.length;
  const weight = isNormalized ? meanOf(([w]) => w) : 1;
  const mean = meanOf(([, base]) => base);
  const center = meanOf(([w, , rest]) => w * rest) / weight;
  // The mean weight varies with the rows, too.
  const influence = ([w, base, rest]: Term) =>
    base - mean + w * rest / weight -
    (isNormalized ? w * center / weight : center);
  return { value: mean + center, influence };
}

function estimateBy(
  terms: readonly Term[],
  isNormalized: boolean,
  bootstrap: BootstrapOptions | undefined,
): PolicyValue {
  const { value, influence } = compute(terms, isNormalized);
  const n = terms.length, none = { standardError: null, interval: null };
  if (!Number.isFinite(value)) return { value: null, ...none };
  if (n < 2) return { value, ...none };
  const squares = sumOf(terms, (it) => influence(it) ** 2);
  const standardError = Math.sqrt(squares / (n * (n - 1)));
  if (bootstrap === undefined) {
    const half = WIDTH * standardError;
    return { value, standardError, interval: [value - half, value + half] };
  }
  const { interval } = stratifiedBootstrap(terms.map((_, i) => [i]), (rows) => {
    const drawn = rows.map((it) => terms[it[0]]);
    const found = compute(drawn, isNormalized).value;
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
  const n = rows.length, spread = sumOf(rows, ({ w }) => (w - meanWeight) ** 2);
  const error = Math.sqrt(spread / (n * (n - 1)));
  const most = maxWeight / meanWeight, size = effectiveSampleSize.toFixed(0);
  const [mean, max] = [meanWeight, maxWeight].map((it) => it.toPrecision(3));
  const warnings: [isOf: boolean, text: string][] = [
    [
      withoutReward > 0,
      `${withoutReward} decisions have no reward and are left out: estimates are wrong if that depends on the reward`,
    ],
    [
      maxWeight === 0,
      "The policy takes none of the logged actions: the log says nothing about it",
    ],
    [
      maxWeight > 0 && Math.abs(meanWeight - 1) > Math.max(3 * error, 1e-9),
      `The mean weight is ${mean}, more than 3 standard errors from 1: propensities are wrong, or weights so heavy that these errors are too small`,
    ],
    [
      maxWeight > 0 &&
      (effectiveSampleSize < FEW * n || most > Math.max(LARGE * n, TIMES)),
      `Weights are heavy: ${n} rows say as much as ${size}, the largest weight is ${max}; intervals may be too narrow`,
    ],
  ];
  return warnings.flatMap(([isOf, text]) => isOf ? [text] : []);
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
  const checked = checkOptions("an evaluation", options, {
    clip: POSITIVE,
    switchAt: POSITIVE,
    shrinkage: POSITIVE,
    bootstrap: [
      "object",
      "options of a bootstrap, such as { random }",
      ({ random }: BootstrapOptions) => typeof random === "object",
    ],
  });
  const all = rows.flatMap((row, i) =>
    row.reward === undefined || row.reward === null ? [] : [numbersOf(row, i)]
  );
  if (all.length === 0) {
    throw outOfRange(`evaluate ${rows.length} rows`, "one with a reward");
  }
  const hasPredictions = rows.every((it) => Boolean(it.predicted));
  const { bootstrap, ...given } = checked;
  const limits = { clip: 10, switchAt: 10, shrinkage: 100, ...given };
  // Without predictions, the first three can be computed.
  const estimates = Object.entries(PARTS).slice(0, hasPredictions ? 8 : 3)
    .map(([name, parts]) => {
      const terms = all.map((it): Term => [it.w, ...parts(it, limits)]);
      const isNormalized = name.startsWith("sn");
      return [name, estimateBy(terms, isNormalized, bootstrap)];
    });
  const weights = sumOf(all, ({ w }) => w);
  const squares = sumOf(all, ({ w }) => w * w);
  const evaluation: Evaluation = {
    estimates: Object.fromEntries(estimates),
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
