import { assert, assertEquals } from "@std/assert";
import type { Params } from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";
import { values } from "./backends.ts";

/** Asserts that `|a - b| <= tolerance (1 + |b|)` for each number. */
export function assertClose(
  actual: tf.Tensor | readonly number[],
  expected: readonly number[],
  tolerance: number = 1e-5,
): void {
  const numbers = actual instanceof tf.Tensor ? values(actual) : actual;
  assertEquals(numbers.length, expected.length);
  numbers.forEach((a, i) => {
    const b = expected[i];
    assert(
      Math.abs(a - b) <= tolerance * (1 + Math.abs(b)),
      `number ${i}: ${a} instead of ${b}`,
    );
  });
}

/** Asserts that `f` has a gradient for each parameter, not 0 everywhere. */
export function assertGradientsFlow(
  f: (params: Params) => tf.Scalar,
  params: Params,
): void {
  const paths = Object.keys(params);
  const loss = (...tensors: tf.Tensor[]) =>
    f(Object.fromEntries(paths.map((path, i) => [path, tensors[i]])));
  const gradients = tf.grads(loss)(Object.values(params));
  paths.forEach((path, i) => {
    const numbers = values(gradients[i]);
    assert(numbers.every(Number.isFinite), `${path} has a broken gradient`);
    assert(numbers.some((number) => number !== 0), `${path} has no gradient`);
  });
}

/** Asserts that applying makes no tensors but those it gives back. */
export function assertNoLeaks(apply: () => Record<string, unknown>): void {
  const before = tf.memory().numTensors;
  const outputs = Object.values(apply()).filter((value) =>
    value instanceof tf.Tensor
  );
  assertEquals(tf.memory().numTensors - before, new Set(outputs).size);
}
