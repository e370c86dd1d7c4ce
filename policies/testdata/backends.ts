import * as compute from "@bellman/compute";
import "@tensorflow/tfjs-backend-wasm";
import * as tf from "@tensorflow/tfjs";

// deno-lint-ignore no-explicit-any
const selectBackend = (compute as any).selectBackend ?? tf.setBackend;
const BACKENDS = ["cpu", "wasm"] as const;

/**
 * A test for each backend. It fails as well if the test leaves tensors behind
 * although everything in it runs inside `tf.tidy`.
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
