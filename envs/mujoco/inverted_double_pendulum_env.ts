import type { InvertedDoublePendulumOptions } from "./inverted_double_pendulum.ts";
import { MujocoEnv } from "./mujoco_env.ts";

/**
 * A cart that is to keep a pole of two links upright. The reward is 10 for each step
 * until the tip falls below a metre, less what it is away from the top and its
 * speeds. One force from -1 to 1; nine observations.
 *
 * @example
 * ```ts
 * import { InvertedDoublePendulumEnv, isMujocoInstalled } from "@bellman/envs/mujoco";
 * import { assertEquals } from "@std/assert";
 *
 * if (isMujocoInstalled()) {
 *   const env = new InvertedDoublePendulumEnv();
 *   env.reset({ seed: 0 });
 *   const { observation } = env.step(new Float32Array(1));
 *   assertEquals(observation.length, 9);
 *   env.close();
 * }
 * ```
 */
export class InvertedDoublePendulumEnv extends MujocoEnv {
  /**
   * Loads the model.
   *
   * @param options What is to be other than in Gymnasium.
   * @throws {TypeError} If an option is unknown, with the nearest one.
   * @throws {RangeError} If an option cannot be.
   * @throws {Error} If there is no engine or no model, or it cannot be loaded.
   */
  constructor(options: InvertedDoublePendulumOptions = {}) {
    super("InvertedDoublePendulum", options);
  }
}
