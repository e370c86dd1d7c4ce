import { assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";

/**
 * Asserts that runs leave neither tensors nor backend memory behind. The first
 * run is not counted: a backend may set things up in it.
 */
export function assertNoLeak(run: () => void, times = 20): void {
  const backend = tf.engine().backend;
  run();
  const tensors = tf.memory().numTensors;
  const blocks = backend.numDataIds();
  for (let i = 0; i < times; i++) run();
  assertEquals(tf.memory().numTensors, tensors, "tensors");
  assertEquals(backend.numDataIds(), blocks, "blocks of the backend's memory");
}
