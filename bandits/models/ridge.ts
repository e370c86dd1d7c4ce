import type { StateTree } from "@bellman/types";
import { mismatch } from "./_refuse.ts";
import * as packed from "./_packed.ts";

/** Settings of {@linkcode Ridge}. */
export interface RidgeSettings {
  /** Weight of the prior. */
  readonly lambda: number;
  /** Deviation of rewards, or "estimated". */
  readonly noise: number | "estimated";
  /** Factor of what was learned before, at each reward. */
  readonly discount: number;
  /** Number of last rewards that count. */
  readonly window: number;
  /** True for logistic regressions. */
  readonly logistic: boolean;
}

/** One regression: sums of what it has learned, and what is computed of them. */
interface Regression {
  /** Sum of the weighted outer products of features, packed, without the prior. */
  gram: Float64Array;
  moment: Float64Array;
  /** Inverse of the Gram matrix and the prior, packed. */
  covariance: Float64Array;
  weights: Float64Array;
  /** True where covariance and weights are older than the sums. */
  isStale: boolean;
  /** Rows since the covariance was computed anew. */
  updates: number;
}

/** Row as it entered the sums: index, weight, response, residual, features. */
type Row = Float64Array;

/** Rows after which a covariance is computed anew, so that rounding does not add up. */
const RENEWAL = 1000;
/** Sum of squares below which nothing is left of what was discounted. */
const NOTHING = 1e-200;

/** Logistic function. */
export function sigmoid(logit: number): number {
  return 1 / (1 + Math.exp(-logit));
}

/**
 * Solves s = y - sigmoid(logit + variance s), which moves the mode of a logistic
 * regression: Newton's method inside of an interval that holds the solution.
 */
function modeStep(y: number, logit: number, variance: number): number {
  let low = y - 1, high = y, s = y - sigmoid(logit);
  for (let i = 0; i < 60; i++) {
    const p = sigmoid(logit + variance * s), error = s - y + p;
    if (error > 0) high = s;
    else low = s;
    const next = s - error / (1 + variance * p * (1 - p));
    const inside = next > low && next < high ? next : (low + high) / 2;
    if (Math.abs(inside - s) < 1e-16) break;
    s = inside;
  }
  return s;
}

/** Saved sums of a regression. */
type Sums = Pick<Regression, "gram" | "moment">;

function isNumbers(value: unknown, length: number): value is Float64Array {
  return value instanceof Float64Array && value.length === length &&
    value.every(Number.isFinite);
}

/** True for sums of the right sizes, whose Gram matrix has a diagonal of squares. */
function isSums({ gram, moment }: Sums, dimension: number): boolean {
  if (!isNumbers(gram, packed.packedLength(dimension))) return false;
  const squares = Array.from(
    moment,
    (_, i) => gram[packed.packedLength(i + 1) - 1],
  );
  return isNumbers(moment, dimension) && squares.every((it) => it >= 0);
}

/**
 * Ridge regressions with common settings, each with its own features and rewards:
 * linear ones, or logistic ones by an online Laplace approximation.
 */
export class Ridge {
  readonly settings: RidgeSettings;
  /** Number of features; 0 before the first. */
  dimension = 0;
  /** Number of rewards learned, discounted. */
  total = 0;
  #regressions: (Regression | undefined)[];
  /** Sum of the squared errors of predictions over their variances, discounted. */
  #residuals = 0;
  #rows: Row[] = [];
  /** Rows since the sums were added up anew. */
  #shifts = 0;

  /** Makes regressions that have learned nothing. */
  constructor(count: number, settings: RidgeSettings) {
    this.settings = settings;
    this.#regressions = Array.from({ length: count });
  }

  /** Estimated or given deviation of rewards. */
  get noise(): number {
    const { noise } = this.settings;
    if (noise !== "estimated") return noise;
    return this.#residuals > 0 ? Math.sqrt(this.#residuals / this.total) : 1;
  }

  /** Number of regressions. */
  get count(): number {
    return this.#regressions.length;
  }

  /** Adds a regression. */
  add(): void {
    this.#regressions.push(undefined);
  }

  /** Removes a regression. */
  remove(index: number): void {
    this.#regressions.splice(index, 1);
    this.#rows = this.#rows.filter(([it]) => it !== index);
    for (const it of this.#rows) if (it[0] > index) it[0]--;
    if (this.settings.window < Infinity) this.#addUp();
  }

  /** Predicts the reward, or the logit, for some features. */
  mean(index: number, x: ArrayLike<number>): number {
    const it = this.#fresh(index);
    return it === undefined ? 0 : packed.dot(it.weights, x);
  }

  /** Computes x' P x, the variance of a prediction if rewards have variance 1. */
  variance(index: number, x: ArrayLike<number>): number {
    const it = this.#fresh(index);
    if (it === undefined) return packed.dot(x, x) / this.settings.lambda;
    // By rounding, it may be below 0.
    return Math.max(0, packed.quadratic(it.covariance, x));
  }

  /** Returns a regression: its sums, without the prior, and its covariance. */
  regression(index: number): Sums & { covariance: Float64Array } {
    return this.#fresh(index) ?? this.#empty();
  }

  /** Learns a reward. */
  learn(index: number, x: Float64Array, reward: number): void {
    const { discount, window, logistic, lambda } = this.settings;
    this.dimension = x.length;
    const regression = this.#fresh(index) ??
      (this.#regressions[index] = this.#empty());
    const product = new Float64Array(x.length);
    packed.timesVector(regression.covariance, x, product);
    const mean = packed.dot(regression.weights, x);
    // Rounding that makes it negative is ended by a new covariance.
    const square = packed.dot(product, x), variance = Math.max(0, square);
    let weight = 1, response = reward, residual = 0;
    if (logistic) {
      const step = modeStep(reward, mean, variance), p = reward - step;
      weight = p * (1 - p);
      response = step + weight * (mean + variance * step);
    } else residual = (reward - mean) ** 2 / (1 + variance);
    if (discount < 1) this.#scale(discount);
    const row = new Float64Array(4 + x.length);
    row.set([index, weight, response, residual]);
    row.set(x, 4);
    this.#count(row, 1);
    const isRenewed = discount < 1 || window < Infinity || lambda === 0 ||
      square < 0 || ++regression.updates >= RENEWAL;
    regression.isStale ||= isRenewed;
    if (!isRenewed) {
      const scale = 1 / (1 + weight * variance);
      packed.addOuter(regression.covariance, product, -weight * scale);
      packed.addScaled(
        regression.weights,
        product,
        (response - weight * mean) * scale,
      );
    }
    if (window < Infinity) this.#shift(row);
  }

  /** Adds a row to the sums, or takes it off. */
  #count(row: Row, sign: 1 | -1): void {
    const [index, weight, response, residual] = row, x = row.subarray(4);
    const regression = this.#regressions[index] ??= this.#empty();
    const { gram, moment } = regression;
    packed.addOuter(gram, x, sign * weight);
    packed.addScaled(moment, x, sign * response);
    this.total += sign;
    this.#residuals = Math.max(0, this.#residuals + sign * residual);
    if (sign > 0) return;
    regression.isStale = true;
    for (let i = 0, at = 0; i < x.length; at += ++i + 1) {
      // By rounding, a sum of squares may be below 0.
      gram[at] = Math.max(0, gram[at]);
    }
  }

  #scale(discount: number): void {
    this.total *= discount;
    this.#residuals *= discount;
    for (const it of this.#regressions) {
      if (it === undefined) continue;
      it.gram = it.gram.map((sum) => discount * sum);
      it.moment = it.moment.map((sum) => discount * sum);
      it.isStale = true;
    }
  }

  #shift(row: Row): void {
    this.#rows.push(row);
    if (this.#rows.length <= this.settings.window) return;
    this.#count(this.#rows.shift()!, -1);
    // So that rounding does not add up.
    if (++this.#shifts >= this.settings.window) this.#addUp();
  }

  /** Adds up the sums of the window anew. */
  #addUp(): void {
    this.#shifts = this.total = this.#residuals = 0;
    this.#regressions = this.#regressions.map(() => undefined);
    for (const row of this.#rows) this.#count(row, 1);
    for (const it of this.#regressions) if (it) it.isStale = true;
  }

  #empty(): Regression {
    const { dimension, settings: { lambda } } = this;
    const size = packed.packedLength(dimension),
      covariance = new Float64Array(size);
    packed.addDiagonal(covariance, dimension, 1 / lambda);
    return {
      gram: new Float64Array(size),
      moment: new Float64Array(dimension),
      covariance,
      weights: new Float64Array(dimension),
      isStale: false,
      updates: 0,
    };
  }

  /** Returns a regression with its covariance and weights up to date. */
  #fresh(index: number): Regression | undefined {
    const it = this.#regressions[index];
    if (it?.isStale) this.#renew(it);
    return it;
  }

  /** Computes covariance and weights anew. */
  #renew(it: Regression): void {
    const { dimension, settings: { lambda } } = this;
    let trace = 0;
    for (let i = 1; i <= dimension; i++) {
      trace += it.gram[packed.packedLength(i) - 1];
    }
    if (trace + lambda < NOTHING) {
      // Without a prior, a sum may be discounted down to nothing.
      Object.assign(it, this.#empty());
      return;
    }
    let covariance: Float64Array | undefined, prior = lambda;
    while (covariance === undefined) {
      const precision = it.gram.slice();
      packed.addDiagonal(precision, dimension, prior);
      covariance = packed.inverse(precision, dimension);
      // Features of unequal sizes, or nearly collinear ones, may need more than the prior.
      prior = 10 * prior + 1e-15 * trace;
    }
    it.covariance = covariance;
    packed.timesVector(covariance, it.moment, it.weights);
    it.isStale = false;
    it.updates = 0;
  }

  /**
   * Saves the sums. Covariances are computed anew from them, here and where the state is
   * loaded, so that both go on alike.
   */
  save(): { [key: string]: StateTree } {
    for (const it of this.#regressions) if (it) this.#renew(it);
    const { dimension, total } = this;
    return {
      numbers: Float64Array.of(dimension, total, this.#residuals, this.#shifts),
      regressions: this.#regressions.map((it) =>
        it ? { gram: it.gram.slice(), moment: it.moment.slice() } : null
      ),
      rows: Float64Array.from(this.#rows.flatMap((it) => [...it])),
    };
  }

  /**
   * Makes regressions of a saved state.
   *
   * @throws {TypeError} If it is damaged.
   */
  static of(state: StateTree, settings: RidgeSettings): Ridge {
    const saved = { ...state as { [key: string]: unknown } };
    const { numbers, rows } = saved, list = saved.regressions;
    const regressions = Array.isArray(list) ? list as (Sums | null)[] : [];
    const ridge = new Ridge(regressions.length, settings);
    const d = isNumbers(numbers, 4) ? ridge.dimension = numbers[0] : -1;
    const width = 4 + d;
    const count = rows instanceof Float64Array ? rows.length / width : NaN;
    const isFine = d >= 0 && isNumbers(numbers, 4) &&
      numbers.every((it) => it >= 0) && regressions.length > 0 &&
      regressions.every((it) => it === null || isSums({ ...it }, d)) &&
      isNumbers(rows, Math.floor(count) * width);
    if (!isFine) throw new TypeError("Cannot load a model that is damaged");
    [, ridge.total, ridge.#residuals, ridge.#shifts] = numbers;
    regressions.forEach((it, i) => {
      if (it === null) return;
      const regression = ridge.#regressions[i] = ridge.#empty();
      regression.gram = it.gram.slice();
      regression.moment = it.moment.slice();
      ridge.#renew(regression);
    });
    ridge.#rows = Array.from(
      { length: count },
      (_, i) => rows.slice(i * width, (i + 1) * width),
    );
    if (ridge.#rows.some(([index]) => !(index in regressions))) {
      throw new TypeError("Cannot load a model with a damaged window");
    }
    return ridge;
  }

  /**
   * Adds what others have learned, each more than a common start.
   *
   * @param others Regressions of the same settings and number.
   * @param base The start of all, or nothing.
   * @throws {TypeError} If their numbers of features differ, or the base has learned more
   * than they have.
   */
  merge(others: readonly Ridge[], base: Ridge | undefined): void {
    for (const other of others) {
      this.#sum(other, 1);
      if (base !== undefined) this.#sum(base, -1);
    }
    const isFine = this.total >= 0 && this.#regressions
      .every((it) => it === undefined || isSums(it, this.dimension));
    if (isFine) return;
    throw mismatch(
      "merge bandits that have learned less than the base",
      "the state that all began with",
    );
  }

  #sum(other: Ridge, sign: 1 | -1): void {
    if (other.dimension === 0) return;
    this.dimension ||= other.dimension;
    if (this.dimension !== other.dimension) {
      throw mismatch(`merge ${other.dimension} features`, `${this.dimension}`);
    }
    this.total += sign * other.total;
    this.#residuals += sign * other.#residuals;
    other.#regressions.forEach((it, i) => {
      if (it === undefined) return;
      const own = this.#regressions[i] ??= this.#empty();
      packed.addScaled(own.gram, it.gram, sign);
      packed.addScaled(own.moment, it.moment, sign);
      own.isStale = true;
    });
  }
}
