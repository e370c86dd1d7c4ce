/**
 * Environments: spaces as plain data, single and vector environments, wrappers,
 * a registry, and classic control with exactly Gymnasium's dynamics. No tensor
 * library is needed.
 *
 * @example
 * ```ts
 * import { makeVec } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = makeVec("CartPole-v1", { numEnvs: 2 });
 * env.reset({ seed: 0 });
 * let ended = 0;
 * for (let i = 0; i < 100; i++) {
 *   // A copy whose episode ended is reset in the same step.
 *   const { episodes = [] } = env.step(Int32Array.of(i % 2, 1));
 *   ended += episodes.length;
 * }
 * assertEquals(ended > 5, true);
 * ```
 *
 * @module
 */
export * from "./batch.ts";
export * from "./check_env.ts";
export * from "./copy_seeds.ts";
export * from "./describe_space.ts";
export {
  EnvDataError,
  type EnvDataFault,
  type EnvDataPlace,
} from "./env_data_error.ts";
export {
  flatten,
  flattenedSize,
  flattenedSpace,
  unflatten,
} from "./flatten.ts";
export { deriveSeed, SeededRandom } from "./random.ts";
export * from "./registration.ts";
export * from "./registry.ts";
export * from "./running_mean_std.ts";
export * from "./snapshot.ts";
export * from "./contains.ts";
export * from "./sample.ts";
export * from "./space_arrays.ts";
export * from "./space_constructors.ts";
export * from "./spaces_equal.ts";
export { SyncVecEnv } from "./sync_vec_env.ts";

export type { ClipRewardOptions } from "./_clip_range.ts";
export type { FrameStackOptions } from "./_frame_stacker.ts";
export * from "./observation_normalizer.ts";
export * from "./reward_normalizer.ts";
export type { RescaleActionOptions } from "./_action_transforms.ts";

export * from "./wrappers/clip_action.ts";
export * from "./wrappers/clip_reward.ts";
export * from "./wrappers/env_wrapper.ts";
export * from "./wrappers/flatten_observation.ts";
export * from "./wrappers/frame_stack.ts";
export * from "./wrappers/normalize_observation.ts";
export * from "./wrappers/normalize_reward.ts";
export * from "./wrappers/record_episode_statistics.ts";
export * from "./wrappers/rescale_action.ts";
export * from "./wrappers/time_limit.ts";
export * from "./wrappers/transform_observation.ts";
export * from "./wrappers/transform_reward.ts";

export * from "./vec_wrappers/clip_action.ts";
export * from "./vec_wrappers/clip_reward.ts";
export * from "./vec_wrappers/flatten_observation.ts";
export * from "./vec_wrappers/frame_stack.ts";
export * from "./vec_wrappers/normalize_observation.ts";
export * from "./vec_wrappers/normalize_reward.ts";
export * from "./vec_wrappers/record_episode_statistics.ts";
export * from "./vec_wrappers/rescale_action.ts";
export * from "./vec_wrappers/transform_observation.ts";
export * from "./vec_wrappers/transform_reward.ts";
export * from "./vec_wrappers/vec_env_wrapper.ts";

import "./classic_control/register.ts";
export * from "./classic_control/mod.ts";

import "./toy/register.ts";
export * from "./toy/mod.ts";

export * from "./render/mod.ts";
