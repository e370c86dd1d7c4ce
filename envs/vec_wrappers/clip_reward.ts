import { type ClipRewardOptions, clipTo } from "../_clip_range.ts";
import type { VecEnv } from "@bellman/types";
import { VecTransformReward } from "./transform_reward.ts";

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
   * @param env The vector environment inside.
   * @param options The range.
   * @throws {RangeError} If its lower end is above its upper one.
   */
  constructor(env: VecEnv, options: ClipRewardOptions = {}) {
    super(env, clipTo(options));
  }
}
