import { CART_POLE } from "./cart_pole_dynamics.ts";
import { type BatchedOptions, DynamicsVecEnv } from "./dynamics_vec_env.ts";

/**
 * Many {@linkcode CartPoleEnv} that step together; same numbers, bit for bit.
 *
 * @example
 * ```ts
 * import { CartPoleVecEnv } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new CartPoleVecEnv({ numEnvs: 2, maxEpisodeSteps: 500 });
 * env.reset({ seed: 0 });
 * assertEquals([...env.step(Int32Array.of(0, 1)).rewards], [1, 1]);
 * ```
 */
export class CartPoleVecEnv extends DynamicsVecEnv {
  /**
   * Makes the copies.
   *
   * @param options How many, and how long an episode may be.
   * @throws {RangeError} If a number is not a whole one of at least 1.
   */
  constructor(options: BatchedOptions) {
    super(CART_POLE, options);
  }
}
