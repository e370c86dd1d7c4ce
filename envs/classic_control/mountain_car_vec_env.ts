import { MOUNTAIN_CAR } from "./mountain_car_dynamics.ts";
import { type BatchedOptions, DynamicsVecEnv } from "./dynamics_vec_env.ts";

/**
 * Many {@linkcode MountainCarEnv} that step together; same numbers, bit for bit.
 *
 * @example
 * ```ts
 * import { MountainCarVecEnv } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new MountainCarVecEnv({ numEnvs: 2, maxEpisodeSteps: 200 });
 * env.reset({ seed: 0 });
 * assertEquals([...env.step(Int32Array.of(0, 2)).rewards], [-1, -1]);
 * ```
 */
export class MountainCarVecEnv extends DynamicsVecEnv {
  /**
   * Makes the copies.
   *
   * @param options How many, and how long an episode may be.
   * @throws {RangeError} If a number is not a whole one of at least 1.
   */
  constructor(options: BatchedOptions) {
    super(MOUNTAIN_CAR, options);
  }
}
