import * as tf from "@tensorflow/tfjs";

/**
 * `tf.tidy` for results of any type: its own type refuses interfaces. Frees
 * the tensors made inside, but for those in the result.
 *
 * @typeParam T The result: tensors, or nested records and lists of them.
 * @param compute What makes the result.
 * @returns What it returned.
 * @example
 * ```ts
 * import { tidy } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
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
