import type { StateTree } from "@bellman/types";
import { damaged, mismatch } from "./_refuse.ts";
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

/** Entries of a state. */
type Saved = { [key: string]: unknown };

/** Sums of what a regression has learned. */
export interface Sums {
  /** Sum of the weighted outer products of features, packed, without the prior. */
  gram: Float64Array;
  moment: Float64Array;
}

/** One regression: its sums, and what is computed of them. */
interface Regression extends Sums {
  /** Inverse of the Gram matrix and the prior, packed. */
  covariance: Float64Array;
  weights: Float64Array;
  /** Rows since covariance and weights were computed anew, which is due at RENEWAL. */
  age: number;
}

/** Row as it entered the sums: index, weight, response, residual, features. */
type Row = Float64Array;

/** Rows after which a covariance is computed anew, so that rounding does not add up. */
const RENEWAL = 1000;
/** Variance of a prediction above which updating a covariance costs digits. */
const WIDE = 1e6;
/** Sum of squares below which nothing is left of what was discounted. */
const NOTHING = 1e-200;
/** Largest sum, which the largest features and rewards are far from. */
const LARGEST_SUM = 1e75;

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

function isNumbers(value: unknown, length: number): value is Float64Array {
  return value instanceof Float64Array && value.length === length &&
    value.every((it) => Math.abs(it) <= LARGEST_SUM);
}

/** True for sums of the right sizes, whose Gram matrix has a diagonal of squares. */
function isSums({ gram, moment }: Partial<Sums>, dimension: number): boolean {
  return isNumbers(gram, packed.packedLength(dimension)) &&
    isNumbers(moment, dimension) &&
    packed.diagonal(dimension).every((i) => gram[i] >= 0);
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
    const mean = this.#residuals / this.total;
    return mean > 0 && mean < LARGEST_SUM ? Math.sqrt(mean) : 1;
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
  regression(index: number): Readonly<Regression> {
    return this.#fresh(index) ?? this.#empty();
  }

  /** Learns a reward. */
  learn(index: number, x: Float64Array, reward: number): void {
    const { discount, window, logistic, lambda } = this.settings;
    this.dimension = x.length;
    const it = this.#fresh(index) ??
      (this.#regressions[index] = this.#empty());
    const product = packed.timesVector(it.covariance, x);
    const mean = packed.dot(it.weights, x), square = packed.dot(product, x);
    const variance = Math.max(0, square);
    let weight = 1, response = reward, residual = 0;
    if (logistic) {
      const step = modeStep(reward, mean, variance), p = reward - step;
      weight = p * (1 - p);
      response = step + weight * (mean + variance * step);
    } else {
      residual = Math.min(
        LARGEST_SUM / 1e10,
        (reward - mean) ** 2 / (1 + variance),
      );
    }
    if (discount < 1) this.#scale(discount);
    const row = new Float64Array(4 + x.length);
    row.set([index, weight, response, residual]);
    row.set(x, 4);
    this.#count(row, 1);
    const isUpdated = discount === 1 && window === Infinity && lambda > 0 &&
      square >= 0 && square < WIDE;
    it.age = isUpdated ? it.age + 1 : RENEWAL;
    if (isUpdated) {
      const scale = 1 / (1 + weight * variance);
      packed.addOuter(it.covariance, product, -weight * scale);
      const moved = (response - weight * mean) * scale;
      packed.addScaled(it.weights, product, moved);
    }
    if (window === Infinity) return;
    this.#rows.push(row);
    if (this.#rows.length <= window) return;
    this.#count(this.#rows.shift()!, -1);
    // So that rounding does not add up.
    if (++this.#shifts >= window) this.#addUp();
  }

  /** Adds a row to the sums, or takes it off. */
  #count(row: Row, sign: 1 | -1): void {
    const [index, weight, response, residual] = row, x = row.subarray(4);
    const it = this.#regressions[index] ??= this.#empty();
    packed.addOuter(it.gram, x, sign * weight);
    packed.addScaled(it.moment, x, sign * response);
    this.total += sign;
    this.#residuals = Math.max(0, this.#residuals + sign * residual);
    if (sign > 0) return;
    it.age = RENEWAL;
    // By rounding, a sum of squares may be below 0.
    for (const i of packed.diagonal(x.length)) {
      it.gram[i] = Math.max(0, it.gram[i]);
    }
  }

  #scale(discount: number): void {
    this.total *= discount;
    this.#residuals *= discount;
    for (const it of this.#regressions) {
      if (it === undefined) continue;
      it.gram = it.gram.map((sum) => discount * sum);
      it.moment = it.moment.map((sum) => discount * sum);
      it.age = RENEWAL;
    }
  }

  /** Adds up the sums of the window anew. */
  #addUp(): void {
    this.#shifts = this.total = this.#residuals = 0;
    this.#regressions.fill(undefined);
    for (const row of this.#rows) this.#count(row, 1);
    this.#expire();
  }

  /** Has all covariances computed anew. */
  #expire(): void {
    for (const it of this.#regressions) if (it) it.age = RENEWAL;
  }

  #empty(): Regression {
    const { dimension, settings: { lambda } } = this;
    const gram = new Float64Array(packed.packedLength(dimension));
    const covariance = gram.slice();
    for (const i of packed.diagonal(dimension)) covariance[i] = 1 / lambda;
    const [moment, weights] = [0, 0].map(() => new Float64Array(dimension));
    return { gram, moment, covariance, weights, age: 0 };
  }

  /** Returns a regression with its covariance and weights up to date. */
  #fresh(index: number): Regression | undefined {
    const it = this.#regressions[index];
    if (it === undefined || it.age < RENEWAL) return it;
    const { dimension, settings: { lambda } } = this;
    const trace = packed.diagonal(dimension)
      .reduce((sum, i) => sum + it.gram[i], 0);
    // Without a prior, a sum may be discounted down to nothing.
    if (trace + lambda < NOTHING) return Object.assign(it, this.#empty());
    const covariance = packed.inverse(it.gram, dimension, lambda);
    const weights = packed.timesVector(covariance, it.moment);
    return Object.assign(it, { covariance, weights, age: 0 });
  }

  /**
   * Saves the sums. Covariances are computed anew from them, here and where the state is
   * loaded, so that both go on alike.
   */
  save(): { [key: string]: StateTree } {
    this.#expire();
    const numbers = [this.total, this.#residuals, this.#shifts, this.dimension];
    return {
      numbers: Float64Array.from(numbers),
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
    const { numbers, regressions, rows } = { ...state as Saved };
    const all = (Array.isArray(regressions) ? regressions : [null])
      .map((it) => it === null ? undefined : { ...it as Partial<Sums> });
    const isFine = Array.isArray(regressions) && isNumbers(numbers, 4) &&
      numbers.every((it) => it >= 0) && Number.isInteger(numbers[3]) &&
      all.every((it) => it === undefined || isSums(it, numbers[3]));
    if (!isFine) throw damaged("the sums of its model");
    const ridge = new Ridge(all.length, settings);
    [ridge.total, ridge.#residuals, ridge.#shifts, ridge.dimension] = numbers;
    ridge.#regressions = all.map((it) => {
      const { gram, moment } = it as Sums ?? {};
      return it && {
        ...ridge.#empty(),
        gram: gram.slice(),
        moment: moment.slice(),
      };
    });
    ridge.#expire();
    ridge.#read(rows);
    return ridge;
  }

  /** Reads the rows of a window. */
  #read(rows: unknown): void {
    const { window } = this.settings, width = 4 + this.dimension;
    const count = Object(rows).length / width;
    const most = window === Infinity ? 0 : window;
    const isFine = count <= most && isNumbers(rows, count * width);
    for (let i = 0; isFine && i < count; i++) {
      this.#rows.push(rows.slice(i * width, (i + 1) * width));
    }
    const isOf = ([index, weight]: Row) =>
      index in this.#regressions && weight >= 0;
    if (isFine && Number.isInteger(count) && this.#rows.every(isOf)) return;
    throw damaged("the rows of its window");
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
    const { total } = base ?? { total: 0 };
    const isFine = this.total >= 0 && this.#residuals >= 0 &&
      others.every((it) => it.total >= total) &&
      this.#regressions.every((it) => !it || isSums(it, this.dimension));
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
      own.age = RENEWAL;
    });
  }
}
