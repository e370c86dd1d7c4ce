import { selectBackend } from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";

const BACKENDS = ["cpu", "wasm"] as const;

/**
 * A test on each backend. Its tensors are freed, so it may leave them; those
 * that it keeps or that escape are an error.
 */
export function testOnBackends(name: string, body: () => void): void {
  for (const backend of BACKENDS) {
    Deno.test(`${name} (${backend})`, async () => {
      await selectBackend(backend);
      const before = tf.memory().numTensors;
      tf.tidy(body);
      const left = tf.memory().numTensors - before;
      if (left !== 0) throw new Error(`${left} tensors were left behind`);
    });
  }
}

/** Values of a tensor as plain numbers. */
export function values(tensor: tf.Tensor): number[] {
  return Array.from(tensor.dataSync());
}
