import * as tf from "@tensorflow/tfjs";
import { sameShape } from "./graph/graph.ts";

/** Bounds of {@linkcode clip}: numbers, or tensors that are broadcast. */
export interface ClipBounds {
  /**
   * Least value.
   *
   * @default none
   */
  readonly min?: number | tf.Tensor;
  /**
   * Largest value.
   *
   * @default none
   */
  readonly max?: number | tf.Tensor;
}

/**
 * Clips numbers to bounds that may be tensors: `minimum(maximum(x, min), max)`
 * with broadcasting, as NumPy and JAX do. Where `min` is above `max`, the result
 * is `max`.
 *
 * A gradient goes to `x` where it lies within its bounds or on one of them, and
 * to a bound where that is what is returned; gradients of what was broadcast are
 * summed, which `tf.maximum` leaves out.
 *
 * @param x Numbers of any shape.
 * @param bounds Bounds whose shapes can be broadcast with that of `x`.
 * @returns Clipped numbers, of the shape that all are broadcast to.
 * @throws {Error} If the shapes cannot be broadcast together.
 *
 * @example
 * ```ts
 * import { clip } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const ratios = tf.tensor2d([[0.5, 1, 3], [-1, 4, 5]]);
 * const range = tf.tensor2d([[0.1], [2]]); // one for each row
 * const clipped = clip(ratios, { min: tf.sub(1, range), max: tf.add(1, range) });
 * assertEquals([...clipped.dataSync().slice(3)], [-1, 3, 3]);
 * ```
 */
export function clip(x: tf.Tensor, { min, max }: ClipBounds): tf.Tensor {
  return tf.tidy(() => {
    const bounds = [min, max].filter((it) => it instanceof tf.Tensor);
    const shape = [x, ...bounds].map((it) => it.shape)
      .reduce(tf.broadcast_util.assertAndGetBroadcastShape);
    // Gradients of maximum and minimum have the shape of what they return.
    const wide = (it: number | tf.Tensor) =>
      typeof it === "number" || sameShape(it.shape, shape)
        ? it
        : tf.mul(it, tf.ones(shape, it.dtype as "float32"));
    const above = min === undefined ? wide(x) : tf.maximum(wide(x), wide(min));
    return max === undefined
      ? tf.clone(above as tf.Tensor)
      : tf.minimum(above, wide(max));
  });
}
