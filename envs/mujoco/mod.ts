/**
 * Gymnasium's environments on MuJoCo in version 5, on its native library. Importing
 * this makes them known by name, such as `HalfCheetah-v5`. Library and models are
 * set up by `deno run -RWES --allow-run jsr:@bellman/envs/mujoco/install`, or named by the
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
export {
  MujocoEnv,
  MujocoVecEnv,
  type MujocoVecOptions,
} from "./mujoco_env.ts";
export { loadMujocoWasm, registerMujoco } from "./register.ts";
export type {
  MujocoObject,
  MujocoSizes,
  MujocoState,
} from "./physics/_physics.ts";
export { isMujocoInstalled } from "./physics/engines.ts";
export type {
  AntOptions,
  HalfCheetahOptions,
  HopperOptions,
  SwimmerOptions,
  Walker2dOptions,
  WalkerOptions,
} from "./tasks/runners.ts";
export type { PusherOptions, ReacherOptions } from "./tasks/arms.ts";
export type {
  HumanoidOptions,
  HumanoidStandupOptions,
  HumanoidViewOptions,
} from "./tasks/humanoids.ts";
export type { CameraConfig, MujocoOptions } from "./tasks/mujoco_options.ts";
export type {
  InvertedDoublePendulumOptions,
  InvertedPendulumOptions,
} from "./tasks/pendulums.ts";
export {
  type MujocoContext,
  type MujocoInfo,
  type MujocoModel,
  type MujocoOwnOptions,
  type MujocoStart,
  type MujocoStep,
  type MujocoTask,
  mujocoTask,
  type MujocoTaskValues,
} from "./tasks/mujoco_task.ts";
export type {
  MujocoChoice,
  MujocoOptionsOf,
  MujocoTaskName,
  MujocoTaskOptions,
} from "./tasks/tasks.ts";
