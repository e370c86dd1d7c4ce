import type { Env } from "@bellman/types";
import { flatten, flattenedSpace } from "../flatten.ts";
import { TransformObservation } from "./transform_observation.ts";

/**
 * Turns each observation into one vector: one-hot for discrete values, part by
 * part for dicts and tuples.
 *
 * @example
 * ```ts
 * import { ChainEnv, FlattenObservation } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new FlattenObservation(new ChainEnv({ length: 2 }));
 * assertEquals(env.reset({ seed: 0 }), Float32Array.of(1, 0, 0));
 * ```
 */
export class FlattenObservation extends TransformObservation {
  /**
   * Wraps an environment.
   *
   * @param env The environment inside.
   */
  constructor(env: Env) {
    const { observationSpace } = env;
    super(env, (it) => flatten(observationSpace, it), {
      space: flattenedSpace(observationSpace),
    });
  }
}
