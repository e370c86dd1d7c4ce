import type { InvertedPendulumOptions } from "./inverted_pendulum.ts";
import { MujocoEnv } from "./mujoco_env.ts";

/**
 * A cart that is to keep a pole upright. The reward is 1 for each step until the
 * pole leans by more than 0.2 radians. One force from -3 to 3; four observations.
 *
 * @example
 * ```ts
 * import { InvertedPendulumEnv, isMujocoInstalled } from "@bellman/envs/mujoco";
 * import { assertEquals } from "@std/assert";
 *
 * if (isMujocoInstalled()) {
 *   const env = new InvertedPendulumEnv();
 *   env.reset({ seed: 0 });
 *   const { observation } = env.step(new Float32Array(1));
 *   assertEquals(observation.length, 4);
 *   env.close();
 * }
 * ```
 */
export class InvertedPendulumEnv extends MujocoEnv {
  /**
   * Loads the model.
   *
   * @param options What is to be other than in Gymnasium.
   * @throws {TypeError} If an option is unknown, with the nearest one.
   * @throws {RangeError} If an option cannot be.
   * @throws {Error} If there is no engine or no model, or it cannot be loaded.
   */
  constructor(options: InvertedPendulumOptions = {}) {
    super("InvertedPendulum", options);
  }
}
