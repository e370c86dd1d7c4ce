import { assert, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { selectBackend } from "../backend.ts";

Deno.test("log1p is exact to float32, relative to its size", async () => {
  await selectBackend("wasm");
  const number = fc.float({ min: Math.fround(-0.99), max: 1e6, noNaN: true });
  fc.assert(fc.property(fc.array(number, { minLength: 1 }), (values) => {
    const actual = tf.tidy(() => tf.log1p(tf.tensor1d(values)).dataSync());
    values.forEach((value, i) =>
      assertEquals(actual[i], Math.fround(Math.log1p(value)))
    );
  }));
});

Deno.test("outside of its domain it is what the logarithm is", async () => {
  await selectBackend("wasm");
  const values = tf.log1p(tf.tensor1d([-1, -2, NaN])).dataSync();
  assertEquals(values[0], -Infinity);
  assert(Number.isNaN(values[1]) && Number.isNaN(values[2]));
});
