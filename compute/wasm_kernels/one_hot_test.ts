import { assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../backend.ts";

for (const dtype of ["float32", "int32"] as const) {
  Deno.test(`one-hot rows of ${dtype} hold the right numbers`, async () => {
    await selectBackend("wasm");
    const index = tf.tensor1d([2, 0], "int32");
    const rows = tf.oneHot(index, 3, 1, 0, dtype);
    assertEquals(rows.dtype, dtype);
    assertEquals([...rows.dataSync()], [0, 0, 1, 1, 0, 0]);
    assertEquals([...tf.mul(rows, 2).dataSync()], [0, 0, 2, 2, 0, 0]);
  });
}
