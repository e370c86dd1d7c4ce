import { assert, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { selectBackend } from "../backend.ts";

async function onWasm(values: number[]): Promise<Float32Array> {
  await selectBackend("wasm");
  return tf.tidy(() => tf.tanh(tf.tensor1d(values)).dataSync() as Float32Array);
}

Deno.test("tanh is exact to float32, relative to its size", async () => {
  const number = fc.float({ min: -20, max: 20, noNaN: true });
  await fc.assert(
    fc.asyncProperty(fc.array(number, { minLength: 1 }), async (values) => {
      (await onWasm(values)).forEach((it, i) => {
        const exact = Math.tanh(values[i]);
        assert(Math.abs(it - exact) <= 1e-6 * Math.abs(exact), `${values[i]}`);
      });
    }),
  );
});

Deno.test("it is odd, saturates, and passes NaN on", async () => {
  const values = await onWasm([0, 1e-20, 0.25, -0.25, 100, -100, NaN]);
  assertEquals(values[0], 0);
  assertEquals(values[1], Math.fround(1e-20));
  assertEquals(values[2], -values[3]);
  assertEquals([values[4], values[5]], [1, -1]);
  assert(Number.isNaN(values[6]));
});

Deno.test("it leaves no memory behind", async () => {
  await onWasm([1]);
  const before = tf.engine().backend.numDataIds();
  for (let i = 0; i < 20; i++) await onWasm([1, 2, 3]);
  assertEquals(tf.engine().backend.numDataIds(), before);
});
