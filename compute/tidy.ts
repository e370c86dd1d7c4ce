import * as tf from "@tensorflow/tfjs";

/**
 * Frees the tensors made inside, but for those in the result: `tf.tidy` for
 * results of any type, as its own type refuses interfaces.
 *
 * @typeParam T The result: tensors, or nested records and lists of them.
 * @param compute Function that makes the result.
 * @returns Its result.
 * @example
 * ```ts
 * import { tidy } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const before = tf.memory().numTensors;
 * const { y } = tidy(() => ({ y: tf.square(tf.add(tf.scalar(1), 2)) }));
 * assertEquals(y.dataSync()[0], 9);
 * assertEquals(tf.memory().numTensors, before + 1);
 * ```
 */
export function tidy<T>(compute: () => T): T {
  return tf.tidy(compute as () => tf.TensorContainer) as T;
}
