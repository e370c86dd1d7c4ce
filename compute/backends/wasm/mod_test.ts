import { assertThrows } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../select_backend.ts";

Deno.test("a kernel that wasm does not have is an error that names it", async () => {
  await selectBackend("wasm");
  const x = tf.ones([1, 4, 4, 1]) as tf.Tensor4D;
  assertThrows(
    () => tf.dilation2d(x, tf.ones([2, 2, 1]) as tf.Tensor3D, 1, "valid"),
    Error,
    "Kernel 'Dilation2D' not registered for backend 'wasm'",
  );
});
