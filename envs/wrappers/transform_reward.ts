import type { Env, SpaceValue, StepResult } from "@bellman/types";
import { EnvWrapper } from "./env_wrapper.ts";

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
   * @param env The environment inside.
   * @param transform Makes the new reward from the old one.
   */
  constructor(env: Env, transform: (reward: number) => number) {
    super(env);
    this.#transform = transform;
  }

  /**
   * Takes one step.
   *
   * @param action What to do.
   * @returns What came of it, with the new reward.
   */
  override step(action: SpaceValue): StepResult {
    const result = super.step(action);
    return { ...result, reward: this.#transform(result.reward) };
  }
}
