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
 *   // An environment whose episode ended is reset in the same step.
 *   const { episodes = [] } = env.step(Int32Array.of(i % 2, 1));
 *   ended += episodes.length;
 * }
 * assertEquals(ended > 5, true);
 * ```
 *
 * @module
 */
export {
  allocateArray,
  boundAt,
  elementCount,
  isArrayOf,
} from "./spaces/arrays.ts";
export {
  allocateBatch,
  type BatchRow,
  cloneBatch,
  copyBatch,
  readRow,
  writeRow,
} from "./spaces/batch.ts";
export { checkSpace } from "./spaces/check_space.ts";
export { actionChoices } from "./spaces/choices.ts";
export * from "./spaces/constructors.ts";
export {
  flatten,
  type FlattenedPart,
  flattenedParts,
  flattenedSize,
  flattenedSpace,
  unflatten,
} from "./spaces/flatten.ts";
export * from "./spaces/values.ts";

export * from "./array_vec_env.ts";
export { Env } from "./base/env.ts";
export { checkEnv, type CheckEnvOptions } from "./check_env.ts";
export {
  EnvDataError,
  type EnvDataFault,
  type EnvDataPlace,
} from "./env_data_error.ts";
export {
  Curriculum,
  type Lesson,
  type ParameterSettings,
} from "./parameters.ts";
export { copySeeds, deriveSeed, SeededRandom } from "./random.ts";
export type { AtariId, LegacyAtariGame } from "./registry/atari_ids.ts";
export * from "./registry/registered_envs.ts";
export * from "./registry/registry.ts";
export { snapshotRecord } from "./snapshot.ts";
export { SyncVecEnv } from "./sync_vec_env.ts";

export type { StateTree } from "@bellman/types";
export type { MutableStep } from "./_steps.ts";
export { FrameStack, type FrameStackOptions } from "./wrappers/frame_stack.ts";
export * from "./wrappers/normalize.ts";
export * from "./wrappers/record_episode_statistics.ts";
export * from "./wrappers/record_info_statistics.ts";
export { Recorder } from "./wrappers/recorder.ts";
export { RunningMeanStd } from "./wrappers/running_mean_std.ts";
export * from "./wrappers/time_limit.ts";
export * from "./wrappers/transforms.ts";
export * from "./wrappers/channels_last.ts";
export { type StepOf, Wrapper } from "./wrappers/wrapper.ts";

import "./classic_control/register.ts";
import "./games/register.ts";
export { ACROBOT } from "./classic_control/acrobot.ts";
export { CART_POLE } from "./classic_control/cart_pole.ts";
export * from "./classic_control/dynamics.ts";
export {
  MOUNTAIN_CAR,
  MOUNTAIN_CAR_CONTINUOUS,
} from "./classic_control/mountain_car.ts";
export { PENDULUM } from "./classic_control/pendulum.ts";

export * from "./toy/environments.ts";
export {
  bitFlip,
  type BitFlipOptions,
  GoalEnv,
  type GoalTask,
  GoalVecEnv,
  REACH,
} from "./toy/goals.ts";
export { GridWorldEnv } from "./toy/grid_world.ts";

export * from "./render/canvas.ts";
