import { checkScale } from "./_check_scale.ts";
import { RunningMeanStd } from "./running_mean_std.ts";
import { type Snapshot, snapshotRecord } from "./snapshot.ts";

/**
 * Settings of the reward normalizers.
 *
 * @example
 * ```ts
 * import { NormalizeReward, make, type NormalizeRewardOptions } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const options: NormalizeRewardOptions = { gamma: 0.9, training: false };
 * const env = new NormalizeReward(make("Pendulum-v1"), options);
 * assertEquals(env.training, false);
 * ```
 */
export interface NormalizeRewardOptions {
  /**
   * Statistics of the discounted return to use and to update.
   *
   * @default statistics of nothing yet
   */
  statistics?: RunningMeanStd;
  /**
   * Whether new rewards change the statistics; `false` for evaluation.
   *
   * @default true
   */
  training?: boolean;
  /**
   * Discount of the return whose deviation rewards are divided by.
   *
   * @default 0.99
   */
  gamma?: number;
  /**
   * Largest absolute value of a scaled reward.
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

/** Which copies' episodes ended in a step. */
export interface Ends {
  readonly terminated: ArrayLike<number>;
  readonly truncated: ArrayLike<number>;
}

/** Divides rewards by the running deviation of the discounted return. */
export class RewardNormalizer {
  readonly statistics: RunningMeanStd;
  training: boolean;
  readonly #borrowed: boolean;
  #returns: Float64Array;
  #gamma: number;
  #clip: number;
  #epsilon: number;

  constructor(numEnvs: number, options: NormalizeRewardOptions = {}) {
    const { gamma = 0.99, clip = 10, epsilon = 1e-8, training = true } =
      options;
    if (!(gamma >= 0 && gamma <= 1)) {
      throw new RangeError(
        `Cannot normalize rewards with gamma ${gamma}: expected 0 to 1`,
      );
    }
    checkScale("rewards", { clip, epsilon });
    this.statistics = options.statistics ?? new RunningMeanStd(1);
    const { length } = this.statistics.mean;
    if (length !== 1) {
      throw new RangeError(
        `Cannot normalize rewards by statistics of ${length} elements: expected 1`,
      );
    }
    this.training = training;
    this.#borrowed = options.statistics !== undefined;
    this.#returns = new Float64Array(numEnvs);
    this.#gamma = gamma;
    this.#clip = clip;
    this.#epsilon = epsilon;
  }

  /** Forgets the returns so far: every copy starts an episode. */
  reset(): void {
    this.#returns.fill(0);
  }

  /** Scales the rewards of one step into another array. */
  apply(rewards: Float64Array, ends: Ends, target: Float64Array): void {
    const returns = this.#returns, clip = this.#clip;
    for (let i = 0; i < rewards.length; i++) {
      returns[i] = returns[i] * this.#gamma + rewards[i];
    }
    if (this.training) this.statistics.update(returns);
    const deviation = Math.sqrt(this.statistics.variance[0] + this.#epsilon);
    for (let i = 0; i < rewards.length; i++) {
      target[i] = Math.min(Math.max(rewards[i] / deviation, -clip), clip);
      // An end of either kind: the next reward is of another episode.
      if (ends.terminated[i] || ends.truncated[i]) returns[i] = 0;
    }
  }

  save(): Snapshot {
    return {
      statistics: this.statistics.save(),
      returns: this.#returns.slice(),
    };
  }

  load(state: Snapshot): void {
    const { statistics, returns } = snapshotRecord(state, [
      "statistics",
      "returns",
    ]);
    // Those that belong to another environment and are frozen here stay.
    if (!this.#borrowed || this.training) this.statistics.load(statistics);
    this.#returns.set(returns as Float64Array);
  }
}
