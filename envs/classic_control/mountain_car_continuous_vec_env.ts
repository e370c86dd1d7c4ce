import { MOUNTAIN_CAR_CONTINUOUS } from "./mountain_car_continuous_dynamics.ts";
import { type BatchedOptions, DynamicsVecEnv } from "./dynamics_vec_env.ts";

/**
 * Many {@linkcode MountainCarContinuousEnv} that step together; same numbers, bit for bit.
 *
 * @example
 * ```ts
 * import { MountainCarContinuousVecEnv } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new MountainCarContinuousVecEnv({ numEnvs: 2, maxEpisodeSteps: 200 });
 * env.reset({ seed: 0 });
 * assertEquals([...env.step(Float32Array.of(0, 0)).rewards], [0, 0]);
 * ```
 */
export class MountainCarContinuousVecEnv extends DynamicsVecEnv {
  /**
   * Makes the copies.
   *
   * @param options How many, and how long an episode may be.
   * @throws {RangeError} If a number is not a whole one of at least 1.
   */
  constructor(options: BatchedOptions) {
    super(MOUNTAIN_CAR_CONTINUOUS, options);
  }
}
