import type { HalfCheetahOptions } from "./half_cheetah.ts";
import { MujocoEnv } from "./mujoco_env.ts";

/**
 * A planar runner of two legs that is to run forward. The reward is its speed along
 * `x` in metres a second less 0.1 times the sum of squared actions; no episode ends.
 * Six actions from -1 to 1 are torques on the joints; observations are the eight
 * positions without `x` and the nine velocities.
 *
 * @example
 * ```ts
 * import { HalfCheetahEnv, isMujocoInstalled } from "@bellman/envs/mujoco";
 * import { assertEquals } from "@std/assert";
 *
 * if (isMujocoInstalled()) {
 *   const env = new HalfCheetahEnv();
 *   env.reset({ seed: 0 });
 *   const { observation } = env.step(new Float32Array(6));
 *   assertEquals(observation.length, 17);
 *   env.close();
 * }
 * ```
 */
export class HalfCheetahEnv extends MujocoEnv {
  /**
   * Loads the model.
   *
   * @param options What is to be other than in Gymnasium.
   * @throws {TypeError} If an option is unknown, with the nearest one.
   * @throws {RangeError} If an option cannot be.
   * @throws {Error} If there is no engine or no model, or it cannot be loaded.
   */
  constructor(options: HalfCheetahOptions = {}) {
    super("HalfCheetah", options);
  }
}
