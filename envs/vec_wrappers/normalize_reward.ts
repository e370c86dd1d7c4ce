import {
  type NormalizeRewardOptions,
  RewardNormalizer,
} from "../reward_normalizer.ts";
import type { RunningMeanStd } from "../running_mean_std.ts";
import type {
  Batch,
  StateTree,
  VecEnv,
  VecResetOptions,
  VecStep,
} from "@bellman/types";
import { relay, type RelayedStep } from "./_relayed_step.ts";
import { VecEnvWrapper } from "./vec_env_wrapper.ts";

/**
 * Divides rewards by the running standard deviation of the discounted return
 * over all copies. The return starts anew where an episode terminated or was
 * truncated.
 *
 * @example
 * ```ts
 * import { makeVec, VecNormalizeReward } from "@bellman/envs";
 * import { assert } from "@std/assert";
 *
 * const env = new VecNormalizeReward(makeVec("Pendulum-v1", { numEnvs: 2 }), {
 *   gamma: 0.9,
 * });
 * env.reset({ seed: 0 });
 * for (let i = 0; i < 100; i++) {
 *   const { rewards } = env.step(Float32Array.of(0, 0));
 *   assert(rewards.every((it) => Math.abs(it) <= 10));
 * }
 * ```
 */
export class VecNormalizeReward extends VecEnvWrapper {
  #normalizer: RewardNormalizer;
  #rewards: Float64Array;
  #out = {} as RelayedStep;

  /**
   * Wraps a vector environment.
   *
   * @param env The vector environment inside.
   * @param options Discount, clipping, and whether statistics are frozen.
   */
  constructor(env: VecEnv, options: NormalizeRewardOptions = {}) {
    super(env);
    this.#normalizer = new RewardNormalizer(env.numEnvs, options);
    this.#rewards = new Float64Array(env.numEnvs);
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
   * Starts an episode in every copy.
   *
   * @param options A seed, or one for each copy, starts the random streams anew.
   * @returns The first observations.
   */
  override reset(options?: VecResetOptions): Batch {
    const observations = super.reset(options);
    this.#normalizer.reset();
    return observations;
  }

  /**
   * Takes one step in every copy.
   *
   * @param actions One action for each copy.
   * @returns What came of it, with the scaled rewards.
   */
  override step(actions: Batch): VecStep {
    const step = relay(super.step(actions), this.#out);
    this.#normalizer.apply(step.rewards, step, this.#rewards);
    step.rewards = this.#rewards;
    return step;
  }

  /**
   * The statistics and the returns so far.
   *
   * @returns Plain data.
   */
  protected override ownState(): StateTree {
    return this.#normalizer.save();
  }

  /**
   * Goes on from statistics and returns.
   *
   * @param state What `ownState` returned.
   */
  protected override loadOwnState(state: StateTree): void {
    this.#normalizer.load(state);
  }
}
