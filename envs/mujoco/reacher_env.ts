import type { ReacherOptions } from "./reacher.ts";
import { MujocoEnv } from "./mujoco_env.ts";

/**
 * An arm of two joints whose fingertip is to reach a goal. The reward is minus the
 * distance in metres and the sum of squared actions; no episode ends. Two torques
 * from -1 to 1; ten observations.
 *
 * @example
 * ```ts
 * import { ReacherEnv, isMujocoInstalled } from "@bellman/envs/mujoco";
 * import { assertEquals } from "@std/assert";
 *
 * if (isMujocoInstalled()) {
 *   const env = new ReacherEnv();
 *   env.reset({ seed: 0 });
 *   const { observation } = env.step(new Float32Array(2));
 *   assertEquals(observation.length, 10);
 *   env.close();
 * }
 * ```
 */
export class ReacherEnv extends MujocoEnv {
  /**
   * Loads the model.
   *
   * @param options What is to be other than in Gymnasium.
   * @throws {TypeError} If an option is unknown, with the nearest one.
   * @throws {RangeError} If an option cannot be.
   * @throws {Error} If there is no engine or no model, or it cannot be loaded.
   */
  constructor(options: ReacherOptions = {}) {
    super("Reacher", options);
  }
}
