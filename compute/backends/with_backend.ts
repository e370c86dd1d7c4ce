import * as tf from "@tensorflow/tfjs";

/**
 * Runs a function on another backend of TensorFlow.js, then switches back. The
 * backend must be one in plain JavaScript: those are ready at once.
 */
export function withBackend<T>(name: string, run: () => T): T {
  const before = tf.getBackend() || "cpu";
  void tf.setBackend(name);
  try {
    return run();
  } finally {
    void tf.setBackend(before);
  }
}
