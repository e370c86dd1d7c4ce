import type { Batch, VecEnv, VecStep } from "@bellman/types";
import { relay, type RelayedStep } from "./_relayed_step.ts";
import { VecEnvWrapper } from "./vec_env_wrapper.ts";

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
  #out = {} as RelayedStep;

  /**
   * Wraps a vector environment.
   *
   * @param env The vector environment inside.
   * @param transform Makes the new reward from the old one.
   */
  constructor(env: VecEnv, transform: (reward: number) => number) {
    super(env);
    this.#transform = transform;
    this.#rewards = new Float64Array(env.numEnvs);
  }

  /**
   * Takes one step in every copy.
   *
   * @param actions One action for each copy.
   * @returns What came of it, with the new rewards.
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
