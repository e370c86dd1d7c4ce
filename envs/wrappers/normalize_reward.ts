import {
  type NormalizeRewardOptions,
  RewardNormalizer,
} from "../reward_normalizer.ts";
import type { Env, SpaceValue, StateTree, StepResult } from "@bellman/types";
import type { RunningMeanStd } from "../running_mean_std.ts";
import { EnvWrapper } from "./env_wrapper.ts";

/**
 * Divides rewards by the running standard deviation of the discounted return,
 * so that returns have a variance of about 1.
 *
 * @example
 * ```ts
 * import { make, NormalizeReward } from "@bellman/envs";
 * import { assert } from "@std/assert";
 *
 * const env = new NormalizeReward(make("Pendulum-v1"), { gamma: 0.9 });
 * env.reset({ seed: 0 });
 * for (let i = 0; i < 100; i++) {
 *   assert(Math.abs(env.step(Float32Array.of(0)).reward) <= 10);
 * }
 * ```
 */
export class NormalizeReward extends EnvWrapper {
  #normalizer: RewardNormalizer;
  #raw = new Float64Array(1);
  #scaled = new Float64Array(1);

  /**
   * Wraps an environment.
   *
   * @param env The environment inside.
   * @param options Discount, clipping, and whether statistics are frozen.
   */
  constructor(env: Env, options: NormalizeRewardOptions = {}) {
    super(env);
    this.#normalizer = new RewardNormalizer(1, options);
  }

  /** The running statistics of the discounted return. */
  get statistics(): RunningMeanStd {
    return this.#normalizer.statistics;
  }

  /** Whether new rewards change the statistics. */
  get training(): boolean {
    return this.#normalizer.training;
  }

  set training(value: boolean) {
    this.#normalizer.training = value;
  }

  /**
   * Starts an episode.
   *
   * @param options A seed starts the random stream anew.
   * @returns The first observation.
   */
  override reset(options?: { seed?: number }): SpaceValue {
    this.#normalizer.reset();
    return super.reset(options);
  }

  /**
   * Takes one step.
   *
   * @param action What to do.
   * @returns What came of it, with the scaled reward.
   */
  override step(action: SpaceValue): StepResult {
    const result = super.step(action);
    this.#raw[0] = result.reward;
    const ends = {
      terminated: [Number(result.terminated)],
      truncated: [Number(result.truncated)],
    };
    this.#normalizer.apply(this.#raw, ends, this.#scaled);
    return { ...result, reward: this.#scaled[0] };
  }

  /**
   * The statistics and the return so far.
   *
   * @returns Plain data.
   */
  protected override ownState(): StateTree {
    return this.#normalizer.save();
  }

  /**
   * Goes on from statistics and a return.
   *
   * @param state What `ownState` returned.
   */
  protected override loadOwnState(state: StateTree): void {
    this.#normalizer.load(state);
  }
}
