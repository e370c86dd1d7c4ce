import type { PusherOptions } from "./pusher.ts";
import { MujocoEnv } from "./mujoco_env.ts";

/**
 * An arm of seven joints that is to push an object to a goal. The reward is minus
 * the distances of the fingertip from the object and of the object from the goal,
 * and the cost of actions; no episode ends. Seven torques from -2 to 2; 23
 * observations.
 *
 * @example
 * ```ts
 * import { PusherEnv, isMujocoInstalled } from "@bellman/envs/mujoco";
 * import { assertEquals } from "@std/assert";
 *
 * if (isMujocoInstalled()) {
 *   const env = new PusherEnv();
 *   env.reset({ seed: 0 });
 *   const { observation } = env.step(new Float32Array(7));
 *   assertEquals(observation.length, 23);
 *   env.close();
 * }
 * ```
 */
export class PusherEnv extends MujocoEnv {
  /**
   * Loads the model.
   *
   * @param options What is to be other than in Gymnasium.
   * @throws {TypeError} If an option is unknown, with the nearest one.
   * @throws {RangeError} If an option cannot be.
   * @throws {Error} If there is no engine or no model, or it cannot be loaded.
   */
  constructor(options: PusherOptions = {}) {
    super("Pusher", options);
  }
}
