import { assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../backend.ts";

Deno.test("every number but 0 is true", async () => {
  await selectBackend("wasm");
  for (const dtype of ["float32", "int32"] as const) {
    const truth = tf.cast(tf.tensor1d([0, 1, -3, 256, 512], dtype), "bool");
    assertEquals(truth.dtype, "bool");
    assertEquals([...truth.dataSync()], [0, 1, 1, 1, 1]);
  }
  const small = tf.cast(tf.tensor1d([0.25, NaN]), "bool");
  assertEquals([...small.dataSync()], [1, 1]);
});

Deno.test("other casts are the stock ones: towards zero", async () => {
  await selectBackend("wasm");
  const whole = tf.cast(tf.tensor1d([-1.75, 0.5, 2.9]), "int32");
  assertEquals([...whole.dataSync()], [-1, 0, 2]);
  assertEquals([...tf.cast(whole, "float32").dataSync()], [-1, 0, 2]);
});
