import type { Walker2dOptions } from "./walker2d.ts";
import { MujocoEnv } from "./mujoco_env.ts";

/**
 * A planar body on two legs that is to walk forward. The reward is 1 for each step
 * that ends healthy, and its speed along `x` less 0.001 times the sum of squared
 * actions. An episode ends when it falls. Six torques from -1 to 1; 17
 * observations.
 *
 * @example
 * ```ts
 * import { Walker2dEnv, isMujocoInstalled } from "@bellman/envs/mujoco";
 * import { assertEquals } from "@std/assert";
 *
 * if (isMujocoInstalled()) {
 *   const env = new Walker2dEnv();
 *   env.reset({ seed: 0 });
 *   const { observation } = env.step(new Float32Array(6));
 *   assertEquals(observation.length, 17);
 *   env.close();
 * }
 * ```
 */
export class Walker2dEnv extends MujocoEnv {
  /**
   * Loads the model.
   *
   * @param options What is to be other than in Gymnasium.
   * @throws {TypeError} If an option is unknown, with the nearest one.
   * @throws {RangeError} If an option cannot be.
   * @throws {Error} If there is no engine or no model, or it cannot be loaded.
   */
  constructor(options: Walker2dOptions = {}) {
    super("Walker2d", options);
  }
}
