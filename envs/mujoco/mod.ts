/**
 * Gymnasium's environments on MuJoCo in version 5, on its native library. Importing
 * this makes them known by name, such as `HalfCheetah-v5`. Library and models are
 * set up by `deno run -A jsr:@bellman/envs/mujoco/install`, or named by the
 * variables `BELLMAN_MUJOCO_LIBRARY` (3.3 or newer, with its headers) and
 * `BELLMAN_MUJOCO_MODELS` (a folder). Where native libraries may not be loaded,
 * `@bellman/envs/mujoco/wasm` brings MuJoCo in WebAssembly.
 *
 * @example
 * ```ts
 * import { make } from "@bellman/envs";
 * import { isMujocoInstalled } from "@bellman/envs/mujoco";
 * import { assertEquals } from "@std/assert";
 *
 * if (isMujocoInstalled()) {
 *   const env = make("HalfCheetah-v5", { kwargs: { ctrlCostWeight: 0.05 } });
 *   env.reset({ seed: 0 });
 *   const { info } = env.step(new Float32Array(6));
 *   assertEquals(info?.reward_ctrl, -0);
 *   env.close();
 * }
 * ```
 *
 * @module
 */
import "./register.ts";

export type { MujocoTaskName, MujocoTaskOptions } from "./_tasks.ts";
export type { AntOptions } from "./ant.ts";
export { AntEnv } from "./ant_env.ts";
export type { HalfCheetahOptions } from "./half_cheetah.ts";
export { HalfCheetahEnv } from "./half_cheetah_env.ts";
export type { HopperOptions } from "./hopper.ts";
export { HopperEnv } from "./hopper_env.ts";
export type { HumanoidOptions } from "./humanoid.ts";
export { HumanoidEnv } from "./humanoid_env.ts";
export type { HumanoidStandupOptions } from "./humanoid_standup.ts";
export { HumanoidStandupEnv } from "./humanoid_standup_env.ts";
export type { HumanoidViewOptions } from "./humanoid_view_options.ts";
export type { InvertedDoublePendulumOptions } from "./inverted_double_pendulum.ts";
export { InvertedDoublePendulumEnv } from "./inverted_double_pendulum_env.ts";
export type { InvertedPendulumOptions } from "./inverted_pendulum.ts";
export { InvertedPendulumEnv } from "./inverted_pendulum_env.ts";
export { isMujocoInstalled } from "./is_mujoco_installed.ts";
export { MujocoEnv } from "./mujoco_env.ts";
export type { CameraConfig, MujocoOptions } from "./mujoco_options.ts";
export { MujocoVecEnv, type MujocoVecOptions } from "./mujoco_vec_env.ts";
export type { PusherOptions } from "./pusher.ts";
export { PusherEnv } from "./pusher_env.ts";
export type { ReacherOptions } from "./reacher.ts";
export { ReacherEnv } from "./reacher_env.ts";
export type { SwimmerOptions } from "./swimmer.ts";
export { SwimmerEnv } from "./swimmer_env.ts";
export type { Walker2dOptions } from "./walker2d.ts";
export { Walker2dEnv } from "./walker2d_env.ts";
