import { checkScale } from "./_check_scale.ts";
import { RunningMeanStd } from "./running_mean_std.ts";
import type { BoxSpace, Space, StateTree } from "@bellman/types";
import { elementCount } from "./space_arrays.ts";
import { box } from "./space_constructors.ts";

/** Settings of the observation normalizers. */
export interface NormalizeObservationOptions {
  /**
   * Statistics to use and to update, such as those of another environment.
   *
   * @default statistics of nothing yet
   */
  statistics?: RunningMeanStd;
  /**
   * Whether new observations change the statistics; `false` for evaluation.
   *
   * @default true
   */
  training?: boolean;
  /**
   * Largest absolute value of a scaled element.
   *
   * @default 10
   */
  clip?: number;
  /**
   * Added to the variance, inside of the root.
   *
   * @default 1e-8
   */
  epsilon?: number;
}

/**
 * Scales batches of observations by their running mean and deviation,
 * `clip((x - mean) / sqrt(variance + epsilon))`. What is seen and what is scaled
 * are two things: who keeps original observations, as a replay buffer does, can
 * scale them by the statistics of the moment.
 *
 * @example
 * ```ts
 * import { box, ObservationNormalizer } from "@bellman/envs";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * const space = box({ low: 0, high: 100, shape: [1] });
 * const normalizer = new ObservationNormalizer(space);
 * const kept = Float32Array.of(10, 30), scaled = new Float32Array(2);
 * normalizer.see(kept);
 * normalizer.apply(kept, scaled);
 * assertAlmostEquals(scaled[1], 1, 1e-4);
 * // Later the same observation is nothing special any more.
 * normalizer.see(Float32Array.of(90, 90));
 * normalizer.apply(kept, scaled);
 * assertAlmostEquals(scaled[1], -0.7, 0.01);
 * ```
 */
export class ObservationNormalizer {
  /** Space of scaled observations. */
  readonly space: BoxSpace;
  /** Running statistics, to share with others. */
  readonly statistics: RunningMeanStd;
  /** Whether {@linkcode ObservationNormalizer.see} changes the statistics. */
  training: boolean;
  readonly #borrowed: boolean;
  #clip: number;
  #epsilon: number;

  /**
   * Makes a normalizer.
   *
   * @param space Space of one observation, a box.
   * @param options Statistics, clipping, and whether they are frozen.
   * @throws {TypeError} If the space is not a box.
   * @throws {RangeError} If the statistics are of another length, or a number
   * is out of its range.
   */
  constructor(space: Space, options: NormalizeObservationOptions = {}) {
    if (space.type !== "box") {
      throw new TypeError(
        `Cannot normalize observations of a ${space.type} space: flatten them first`,
      );
    }
    const size = elementCount(space);
    const { clip = 10, epsilon = 1e-8, training = true } = options;
    checkScale("observations", { clip, epsilon });
    this.statistics = options.statistics ?? new RunningMeanStd(size);
    if (this.statistics.mean.length !== size) {
      throw new RangeError(
        `Cannot normalize ${size} elements by statistics of ${this.statistics.mean.length}`,
      );
    }
    this.space = box({ low: -clip, high: clip, shape: space.shape });
    this.training = training;
    this.#borrowed = options.statistics !== undefined;
    this.#clip = clip;
    this.#epsilon = epsilon;
  }

  /** Numbers that the present scale consists of; the arrays change with it. */
  get scaling(): {
    mean: Float64Array;
    variance: Float64Array;
    epsilon: number;
    clip: number;
  } {
    const { mean, variance } = this.statistics;
    return { mean, variance, epsilon: this.#epsilon, clip: this.#clip };
  }

  /**
   * Saves the statistics.
   *
   * @returns A copy that later observations do not change.
   */
  save(): StateTree {
    return this.statistics.save();
  }

  /**
   * Restores saved statistics. Those that belong to another environment and are
   * frozen here are left to it.
   *
   * @param saved What `save` returned.
   * @throws {RangeError} If they are of observations of another size.
   */
  load(saved: StateTree): void {
    if (this.#borrowed && !this.training) return;
    this.statistics.load(saved);
  }

  /**
   * Takes observations into the statistics, unless these are frozen.
   *
   * @param batch Observations `[rows, ...shape]`.
   */
  see(batch: ArrayLike<number>): void {
    if (this.training) this.statistics.update(batch);
  }

  /**
   * Scales observations by the present statistics, which stay as they are.
   *
   * @param batch Observations `[rows, ...shape]`.
   * @param target Takes the scaled ones; may be the same array.
   */
  apply(batch: ArrayLike<number>, target: Float32Array): void {
    const { mean, variance } = this.statistics;
    const size = mean.length, clip = this.#clip;
    for (let at = 0; at < batch.length; at += size) {
      for (let i = 0; i < size; i++) {
        const scaled = (batch[at + i] - mean[i]) /
          Math.sqrt(variance[i] + this.#epsilon);
        target[at + i] = Math.min(Math.max(scaled, -clip), clip);
      }
    }
  }
}
