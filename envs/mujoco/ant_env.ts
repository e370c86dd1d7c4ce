import type { AntOptions } from "./ant.ts";
import { MujocoEnv } from "./mujoco_env.ts";

/**
 * A body on four legs that is to run along `x`. The reward is 1 for each step that
 * ends healthy, and its speed less the costs of actions and contacts. An episode
 * ends when it jumps or falls. Eight torques from -1 to 1; 105 observations:
 * positions, velocities and contact forces.
 *
 * @example
 * ```ts
 * import { AntEnv, isMujocoInstalled } from "@bellman/envs/mujoco";
 * import { assertEquals } from "@std/assert";
 *
 * if (isMujocoInstalled()) {
 *   const env = new AntEnv();
 *   env.reset({ seed: 0 });
 *   const { observation } = env.step(new Float32Array(8));
 *   assertEquals(observation.length, 105);
 *   env.close();
 * }
 * ```
 */
export class AntEnv extends MujocoEnv {
  /**
   * Loads the model.
   *
   * @param options What is to be other than in Gymnasium.
   * @throws {TypeError} If an option is unknown, with the nearest one.
   * @throws {RangeError} If an option cannot be.
   * @throws {Error} If there is no engine or no model, or it cannot be loaded.
   */
  constructor(options: AntOptions = {}) {
    super("Ant", options);
  }
}
