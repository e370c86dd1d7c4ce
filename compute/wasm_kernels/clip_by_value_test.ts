import { assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../backend.ts";
import { assertBackendsAgree } from "../testdata/backends_agree.ts";

Deno.test("numbers are clipped as on cpu, with the gradient", () =>
  assertBackendsAgree({
    shapes: [[4, 5]],
    op: (x) => tf.clipByValue(x, -0.5, 0.6),
  }));

Deno.test("NaN stays NaN, infinities become the bounds", async () => {
  await selectBackend("wasm");
  const x = tf.tensor1d([NaN, -Infinity, Infinity, -0.5, 0.25]);
  assertEquals([...tf.clipByValue(x, -1, 1).dataSync()], [
    NaN,
    -1,
    1,
    -0.5,
    0.25,
  ]);
});

Deno.test("whole numbers are clipped, too", async () => {
  await selectBackend("wasm");
  const clipped = tf.clipByValue(tf.tensor1d([-3, 0, 7], "int32"), -1, 2);
  assertEquals(clipped.dtype, "int32");
  assertEquals([...clipped.dataSync()], [-1, 0, 2]);
});
