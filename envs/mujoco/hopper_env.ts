import type { HopperOptions } from "./hopper.ts";
import { MujocoEnv } from "./mujoco_env.ts";

/**
 * A planar leg that is to hop forward. The reward is 1 for each step that ends
 * healthy, and its speed along `x` less 0.001 times the sum of squared actions. An
 * episode ends when it falls. Three torques from -1 to 1; eleven observations.
 *
 * @example
 * ```ts
 * import { HopperEnv, isMujocoInstalled } from "@bellman/envs/mujoco";
 * import { assertEquals } from "@std/assert";
 *
 * if (isMujocoInstalled()) {
 *   const env = new HopperEnv();
 *   env.reset({ seed: 0 });
 *   const { observation } = env.step(new Float32Array(3));
 *   assertEquals(observation.length, 11);
 *   env.close();
 * }
 * ```
 */
export class HopperEnv extends MujocoEnv {
  /**
   * Loads the model.
   *
   * @param options What is to be other than in Gymnasium.
   * @throws {TypeError} If an option is unknown, with the nearest one.
   * @throws {RangeError} If an option cannot be.
   * @throws {Error} If there is no engine or no model, or it cannot be loaded.
   */
  constructor(options: HopperOptions = {}) {
    super("Hopper", options);
  }
}
