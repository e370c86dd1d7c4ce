import { PENDULUM } from "./pendulum_dynamics.ts";
import { type BatchedOptions, DynamicsVecEnv } from "./dynamics_vec_env.ts";

/**
 * Many {@linkcode PendulumEnv} that step together; same numbers, bit for bit.
 *
 * @example
 * ```ts
 * import { PendulumVecEnv } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new PendulumVecEnv({ numEnvs: 2, maxEpisodeSteps: 200 });
 * env.reset({ seed: 0 });
 * assertEquals(env.step(Float32Array.of(0, 0)).rewards.length, 2);
 * ```
 */
export class PendulumVecEnv extends DynamicsVecEnv {
  /**
   * Makes the copies.
   *
   * @param options How many, and how long an episode may be.
   * @throws {RangeError} If a number is not a whole one of at least 1.
   */
  constructor(options: BatchedOptions) {
    super(PENDULUM, options);
  }
}
