import type {
  Batch,
  Env,
  SpaceValue,
  StepResult,
  VecEnv,
  VecStep,
} from "@bellman/types";
import { type MutableStep, relay } from "../_steps.ts";
import { EnvWrapper, VecEnvWrapper } from "./env_wrapper.ts";

/**
 * Replaces each reward by a function of it.
 *
 * @example
 * ```ts
 * import { ChainEnv, TransformReward } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const chain = new ChainEnv({ length: 2 });
 * const env = new TransformReward(chain, (reward) => reward / 2);
 * env.reset({ seed: 0 });
 * assertEquals(env.step(0).reward, 0.5);
 * ```
 */
export class TransformReward extends EnvWrapper {
  #transform: (reward: number) => number;

  /**
   * Wraps an environment.
   *
   * @param env Environment inside.
   * @param transform Function from the old reward to the new one.
   */
  constructor(env: Env, transform: (reward: number) => number) {
    super(env);
    this.#transform = transform;
  }

  /**
   * Takes one step.
   *
   * @param action Action to take.
   * @returns The step's result with the new reward.
   */
  override step(action: SpaceValue): StepResult {
    const result = super.step(action);
    return { ...result, reward: this.#transform(result.reward) };
  }
}

/**
 * Replaces each reward by a function of it.
 *
 * @example
 * ```ts
 * import { makeVec, VecTransformReward } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new VecTransformReward(
 *   makeVec("CartPole-v1", { numEnvs: 2 }),
 *   (reward) => reward / 2,
 * );
 * env.reset({ seed: 0 });
 * assertEquals([...env.step(Int32Array.of(0, 1)).rewards], [0.5, 0.5]);
 * ```
 */
export class VecTransformReward extends VecEnvWrapper {
  #transform: (reward: number) => number;
  #rewards: Float64Array;
  #out = {} as MutableStep;

  /**
   * Wraps a vector environment.
   *
   * @param env Vector environment inside.
   * @param transform Function from the old reward to the new one.
   */
  constructor(env: VecEnv, transform: (reward: number) => number) {
    super(env);
    this.#transform = transform;
    this.#rewards = new Float64Array(env.numEnvs);
  }

  /**
   * Takes one step in every environment.
   *
   * @param actions One action for each environment.
   * @returns The step's result with the new rewards.
   */
  override step(actions: Batch): VecStep {
    const step = relay(super.step(actions), this.#out);
    for (let row = 0; row < this.numEnvs; row++) {
      this.#rewards[row] = this.#transform(step.rewards[row]);
    }
    step.rewards = this.#rewards;
    return step;
  }
}

/** Range that rewards are clipped to. */
export interface ClipRewardOptions {
  /**
   * Smallest reward.
   *
   * @default -1
   */
  low?: number;
  /**
   * Largest reward.
   *
   * @default 1
   */
  high?: number;
}

/** Makes the function that clips rewards to a range. */
function clipperTo(
  { low = -1, high = 1 }: ClipRewardOptions,
): (reward: number) => number {
  if (low <= high) {
    // A number that is not finite stays, so that it is refused.
    return (reward) =>
      Number.isFinite(reward) ? Math.min(Math.max(reward, low), high) : reward;
  }
  throw new RangeError(
    `Cannot clip rewards from ${low} to ${high}: the lower end must not be above the upper`,
  );
}

/**
 * Clips each reward to a range.
 *
 * @example
 * ```ts
 * import { ChainEnv, ClipReward } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new ClipReward(new ChainEnv({ length: 2 }), { high: 0.25 });
 * env.reset({ seed: 0 });
 * assertEquals(env.step(0).reward, 0.25);
 * ```
 */
export class ClipReward extends TransformReward {
  /**
   * Wraps an environment.
   *
   * @param env Environment inside.
   * @param options Range of the rewards.
   * @throws {RangeError} If its lower end is above its upper one.
   */
  constructor(env: Env, options: ClipRewardOptions = {}) {
    super(env, clipperTo(options));
  }
}

/**
 * Clips each reward to a range.
 *
 * @example
 * ```ts
 * import { makeVec, VecClipReward } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new VecClipReward(makeVec("Pendulum-v1", { numEnvs: 1 }), {
 *   low: -0.5,
 * });
 * env.reset({ seed: 0 });
 * assertEquals(env.step(Float32Array.of(0)).rewards[0] >= -0.5, true);
 * ```
 */
export class VecClipReward extends VecTransformReward {
  /**
   * Wraps a vector environment.
   *
   * @param env Vector environment inside.
   * @param options Range of the rewards.
   * @throws {RangeError} If its lower end is above its upper one.
   */
  constructor(env: VecEnv, options: ClipRewardOptions = {}) {
    super(env, clipperTo(options));
  }
}
