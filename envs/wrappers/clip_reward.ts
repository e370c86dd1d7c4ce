import { type ClipRewardOptions, clipTo } from "../_clip_range.ts";
import type { Env } from "@bellman/types";
import { TransformReward } from "./transform_reward.ts";

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
   * @param env The environment inside.
   * @param options The range.
   * @throws {RangeError} If its lower end is above its upper one.
   */
  constructor(env: Env, options: ClipRewardOptions = {}) {
    super(env, clipTo(options));
  }
}
