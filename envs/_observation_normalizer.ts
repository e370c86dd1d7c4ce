import { checkScale } from "./_check_scale.ts";
import { RunningMeanStd } from "./running_mean_std.ts";
import type { BoxArray, BoxSpace, Space } from "./space.ts";
import { elementCount } from "./space_arrays.ts";
import { box } from "./space_constructors.ts";

/**
 * Settings of the observation normalizers.
 *
 * @example
 * ```ts
 * import { NormalizeObservation, make, type NormalizeObservationOptions } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const options: NormalizeObservationOptions = { clip: 5 };
 * const env = new NormalizeObservation(make("CartPole-v1"), options);
 * const { observationSpace } = env;
 * assertEquals(observationSpace.type === "box" && observationSpace.high, 5);
 * ```
 */
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

/** Scales batches of observations by their running mean and deviation. */
export class ObservationNormalizer {
  readonly space: BoxSpace;
  readonly statistics: RunningMeanStd;
  training: boolean;
  readonly #borrowed: boolean;
  #clip: number;
  #epsilon: number;

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

  /**
   * Goes back to saved statistics. Those that belong to another environment
   * and are frozen here are left to it.
   */
  load(saved: unknown): void {
    if (this.#borrowed && !this.training) return;
    this.statistics.load(saved as never);
  }

  /** Takes observations into the statistics, unless these are frozen. */
  see(batch: BoxArray): void {
    if (this.training) this.statistics.update(batch);
  }

  /** Scales a batch into another. */
  apply(batch: BoxArray, target: Float32Array): void {
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
