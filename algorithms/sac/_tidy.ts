import * as tf from "@tensorflow/tfjs";

/** `tf.tidy` for results of any type, whose own type refuses interfaces. */
export function tidy<T>(compute: () => T): T {
  return tf.tidy(compute as () => tf.TensorContainer) as T;
}
