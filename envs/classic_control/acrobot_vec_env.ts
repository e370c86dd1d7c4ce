import { ACROBOT } from "./acrobot_dynamics.ts";
import { type BatchedOptions, DynamicsVecEnv } from "./dynamics_vec_env.ts";

/**
 * Many {@linkcode AcrobotEnv} that step together; same numbers, bit for bit.
 *
 * @example
 * ```ts
 * import { AcrobotVecEnv } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new AcrobotVecEnv({ numEnvs: 2, maxEpisodeSteps: 200 });
 * env.reset({ seed: 0 });
 * assertEquals([...env.step(Int32Array.of(1, 2)).rewards], [-1, -1]);
 * ```
 */
export class AcrobotVecEnv extends DynamicsVecEnv {
  /**
   * Makes the copies.
   *
   * @param options How many, and how long an episode may be.
   * @throws {RangeError} If a number is not a whole one of at least 1.
   */
  constructor(options: BatchedOptions) {
    super(ACROBOT, options);
  }
}
