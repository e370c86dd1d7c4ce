import * as tf from "@tensorflow/tfjs";

/**
 * `tf.tidy` for results of any type: its own type refuses interfaces. Frees
 * the tensors made inside, but for those in the result.
 */
export function tidy<T>(compute: () => T): T {
  return tf.tidy(compute as () => tf.TensorContainer) as T;
}
