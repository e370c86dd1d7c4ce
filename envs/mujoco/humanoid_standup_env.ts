import type { HumanoidStandupOptions } from "./humanoid_standup.ts";
import { MujocoEnv } from "./mujoco_env.ts";

/**
 * A human figure on its back that is to stand up. The reward is its height over the
 * seconds of a step of the simulation, less the costs of controls and contacts, and
 * 1; no episode ends. 17 torques from -0.4 to 0.4; 348 observations.
 *
 * @example
 * ```ts
 * import { HumanoidStandupEnv, isMujocoInstalled } from "@bellman/envs/mujoco";
 * import { assertEquals } from "@std/assert";
 *
 * if (isMujocoInstalled()) {
 *   const env = new HumanoidStandupEnv();
 *   env.reset({ seed: 0 });
 *   const { observation } = env.step(new Float32Array(17));
 *   assertEquals(observation.length, 348);
 *   env.close();
 * }
 * ```
 */
export class HumanoidStandupEnv extends MujocoEnv {
  /**
   * Loads the model.
   *
   * @param options What is to be other than in Gymnasium.
   * @throws {TypeError} If an option is unknown, with the nearest one.
   * @throws {RangeError} If an option cannot be.
   * @throws {Error} If there is no engine or no model, or it cannot be loaded.
   */
  constructor(options: HumanoidStandupOptions = {}) {
    super("HumanoidStandup", options);
  }
}
