import { flattenedSize, flattenedSpace, flattenInto } from "../flatten.ts";
import type { SpaceValue, VecEnv } from "@bellman/types";
import { VecTransformObservation } from "./transform_observation.ts";

/**
 * Turns each observation into one vector: one-hot for discrete values, part by
 * part for dicts and tuples.
 *
 * @example
 * ```ts
 * import { makeVec, VecFlattenObservation } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new VecFlattenObservation(
 *   makeVec("Chain-v0", { numEnvs: 1, kwargs: { length: 2 } }),
 * );
 * assertEquals(env.reset({ seed: 0 }), Float32Array.of(1, 0, 0));
 * ```
 */
export class VecFlattenObservation extends VecTransformObservation {
  /**
   * Wraps a vector environment.
   *
   * @param env The vector environment inside.
   */
  constructor(env: VecEnv) {
    const { observationSpace } = env;
    // One vector for all copies: it is copied to its row at once.
    const target = new Float32Array(flattenedSize(observationSpace));
    const transform = (it: SpaceValue): Float32Array => {
      flattenInto(observationSpace, it, target, 0);
      return target;
    };
    super(env, transform, { space: flattenedSpace(observationSpace) });
  }
}
