import type { HumanoidOptions } from "./humanoid.ts";
import { MujocoEnv } from "./mujoco_env.ts";

/**
 * A human figure that is to walk along `x`. The reward is 5 for each step that ends
 * healthy, and 1.25 times its speed less the costs of controls and contacts. An
 * episode ends when it falls. 17 torques from -0.4 to 0.4; 348 observations:
 * positions, velocities, inertias, the bodies' velocities, and forces.
 *
 * @example
 * ```ts
 * import { HumanoidEnv, isMujocoInstalled } from "@bellman/envs/mujoco";
 * import { assertEquals } from "@std/assert";
 *
 * if (isMujocoInstalled()) {
 *   const env = new HumanoidEnv();
 *   env.reset({ seed: 0 });
 *   const { observation } = env.step(new Float32Array(17));
 *   assertEquals(observation.length, 348);
 *   env.close();
 * }
 * ```
 */
export class HumanoidEnv extends MujocoEnv {
  /**
   * Loads the model.
   *
   * @param options What is to be other than in Gymnasium.
   * @throws {TypeError} If an option is unknown, with the nearest one.
   * @throws {RangeError} If an option cannot be.
   * @throws {Error} If there is no engine or no model, or it cannot be loaded.
   */
  constructor(options: HumanoidOptions = {}) {
    super("Humanoid", options);
  }
}
