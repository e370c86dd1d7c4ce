import * as tf from "@tensorflow/tfjs";
import { mapParams, type Params } from "./params.ts";

/**
 * The L2 norm of all numbers of a map taken together.
 *
 * @param gradients Tensors by path, of any shapes.
 * @returns The norm, a scalar.
 * @example
 * ```ts
 * import { globalNorm } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * const norm = globalNorm({ a: tf.tensor1d([3]), b: tf.tensor2d([[0, 4]]) });
 * assertEquals(norm.dataSync()[0], 5);
 * ```
 */
export function globalNorm(gradients: Params): tf.Scalar {
  return tf.tidy(() => {
    const flat = Object.values(gradients).map((it) => it.flatten());
    return tf.sqrt(tf.sum(tf.square(tf.concat(flat))));
  });
}

/** Gradients after clipping, and their norm before it. */
export interface ClippedGradients {
  /** The gradients, scaled down where their norm was above the maximum. */
  gradients: Params;
  /** The global norm before clipping. */
  norm: tf.Scalar;
}

/**
 * Scales gradients down so that their global norm is at most `maxNorm`, as
 * TensorFlow's `clip_by_global_norm` does: `g * maxNorm / max(norm, maxNorm)`.
 *
 * @param gradients Gradients by path.
 * @param maxNorm The largest norm, above 0; `null` clips nothing.
 * @returns The clipped gradients and the norm before clipping.
 * @throws {RangeError} If `maxNorm` is a number that is not above 0.
 * @example
 * ```ts
 * import { clipByGlobalNorm } from "@bellman/compute";
 * import { assertAlmostEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * const { gradients, norm } = clipByGlobalNorm({ w: tf.tensor1d([3, 4]) }, 1);
 * assertAlmostEquals(norm.dataSync()[0], 5);
 * assertAlmostEquals(gradients.w.dataSync()[0], 0.6, 1e-6);
 * ```
 */
export function clipByGlobalNorm(
  gradients: Params,
  maxNorm: number | tf.Scalar | null,
): ClippedGradients {
  if (typeof maxNorm === "number" && !(maxNorm > 0)) {
    throw new RangeError(
      `Cannot clip gradients to a norm of ${maxNorm}: expected a number above 0, or null for no clipping`,
    );
  }
  return tf.tidy(() => {
    const norm = globalNorm(gradients);
    if (maxNorm === null) {
      return { gradients: mapParams(gradients, (it) => it.clone()), norm };
    }
    const scale = tf.div(maxNorm, tf.maximum(norm, maxNorm));
    return { gradients: mapParams(gradients, (it) => it.mul(scale)), norm };
  });
}
