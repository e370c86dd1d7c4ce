import * as tf from "@tensorflow/tfjs";

/**
 * Runs with another backend of TensorFlow.js and goes back to the one before.
 * It must need no waiting: those in plain JavaScript are switched to at once.
 */
export function onBackend<T>(name: string, run: () => T): T {
  const before = tf.getBackend() || "cpu";
  void tf.setBackend(name);
  try {
    return run();
  } finally {
    void tf.setBackend(before);
  }
}
