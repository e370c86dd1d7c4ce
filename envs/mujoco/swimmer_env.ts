import type { SwimmerOptions } from "./swimmer.ts";
import { MujocoEnv } from "./mujoco_env.ts";

/**
 * A chain of three links in a fluid that is to swim along `x`. The reward is its
 * speed less 0.0001 times the sum of squared actions; no episode ends. Two torques
 * from -1 to 1; eight observations.
 *
 * @example
 * ```ts
 * import { SwimmerEnv, isMujocoInstalled } from "@bellman/envs/mujoco";
 * import { assertEquals } from "@std/assert";
 *
 * if (isMujocoInstalled()) {
 *   const env = new SwimmerEnv();
 *   env.reset({ seed: 0 });
 *   const { observation } = env.step(new Float32Array(2));
 *   assertEquals(observation.length, 8);
 *   env.close();
 * }
 * ```
 */
export class SwimmerEnv extends MujocoEnv {
  /**
   * Loads the model.
   *
   * @param options What is to be other than in Gymnasium.
   * @throws {TypeError} If an option is unknown, with the nearest one.
   * @throws {RangeError} If an option cannot be.
   * @throws {Error} If there is no engine or no model, or it cannot be loaded.
   */
  constructor(options: SwimmerOptions = {}) {
    super("Swimmer", options);
  }
}
