import type { StateTree } from "@bellman/types";
import { snapshotRecord } from "../snapshot.ts";

/**
 * Running mean and variance of each element of a stream of vectors, updated
 * batch by batch (Chan, Golub and LeVeque 1979). Before the first batch the mean is
 * 0 and the variance 1, of which nothing stays: with Gymnasium's count of 1e-4 for
 * them, numbers of 50,000 ± 2.5 would have a deviation of 16 after 1,000 of them.
 *
 * @example
 * ```ts
 * import { RunningMeanStd } from "@bellman/envs";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * const statistics = new RunningMeanStd(1);
 * statistics.update(Float64Array.of(1, 2, 3, 4));
 * assertAlmostEquals(statistics.mean[0], 2.5);
 * assertAlmostEquals(statistics.variance[0], 1.25);
 * ```
 */
export class RunningMeanStd {
  /** Mean of each element. */
  readonly mean: Float64Array;
  /** Population variance of each element. */
  readonly variance: Float64Array;
  /** Number of vectors so far. */
  count: number = 0;

  #batchMean: Float64Array;
  #batchVariance: Float64Array;

  /**
   * Makes statistics without data.
   *
   * @param size Length of a vector.
   */
  constructor(size: number) {
    this.mean = new Float64Array(size);
    this.variance = new Float64Array(size).fill(1);
    this.#batchMean = new Float64Array(size);
    this.#batchVariance = new Float64Array(size);
  }

  /**
   * Records a batch of vectors.
   *
   * @param batch Vectors one after the other, `[n, size]`.
   * @throws {RangeError} If a mean or a variance is not finite any more, as
   * after a number whose square is beyond 64 bits.
   */
  update(batch: ArrayLike<number>): void {
    const size = this.mean.length;
    const n = batch.length / size;
    const mean = this.#batchMean.fill(0);
    const variance = this.#batchVariance.fill(0);
    for (let at = 0; at < batch.length; at += size) {
      for (let i = 0; i < size; i++) mean[i] += batch[at + i] / n;
    }
    for (let at = 0; at < batch.length; at += size) {
      for (let i = 0; i < size; i++) {
        variance[i] += (batch[at + i] - mean[i]) ** 2 / n;
      }
    }
    this.#merge(n);
  }

  #merge(n: number): void {
    // Less than one vector is none, as in older states with a count of 1e-4.
    const count = this.count < 1 ? 0 : this.count, total = count + n;
    for (let i = 0; i < this.mean.length; i++) {
      const delta = this.#batchMean[i] - this.mean[i];
      this.mean[i] += delta * n / total;
      const squares = this.variance[i] * count + this.#batchVariance[i] * n +
        delta * (delta * count * n / total);
      this.variance[i] = squares / total;
      // Division by an infinite deviation would give 0 in silence.
      if (!(this.variance[i] < Infinity)) this.#refuse(i);
    }
    this.count = total;
  }

  #refuse(i: number): never {
    const mean = this.mean[i], variance = this.variance[i];
    throw new RangeError(
      `Cannot take numbers into running statistics: element ${i} then has the mean ${mean} and the variance ${variance}, expected finite ones`,
    );
  }

  /**
   * Saves the statistics.
   *
   * @returns A copy that later updates do not change.
   */
  save(): StateTree {
    return {
      mean: this.mean.slice(),
      variance: this.variance.slice(),
      count: this.count,
    };
  }

  /**
   * Restores saved statistics.
   *
   * @param state State that {@linkcode RunningMeanStd.save} returned.
   * @throws {RangeError} If they are of vectors of another length.
   */
  load(state: StateTree): void {
    const keys = ["mean", "variance", "count"];
    const { mean, variance, count } = snapshotRecord(state, keys);
    const size = (mean as Float64Array).length;
    if (size !== this.mean.length) {
      throw new RangeError(
        `Cannot load statistics of ${size} elements: expected ${this.mean.length}`,
      );
    }
    this.mean.set(mean as Float64Array);
    this.variance.set(variance as Float64Array);
    this.count = count as number;
  }
}

/** Checks `clip` and `epsilon`. */
export function checkScale(
  what: string,
  { clip, epsilon }: { clip: number; epsilon: number },
): void {
  if (!(clip > 0)) {
    throw new RangeError(
      `Cannot normalize ${what} with clip ${clip}: expected a number above 0`,
    );
  }
  if (epsilon >= 0) return;
  throw new RangeError(
    `Cannot normalize ${what} with epsilon ${epsilon}: expected a number of at least 0`,
  );
}
