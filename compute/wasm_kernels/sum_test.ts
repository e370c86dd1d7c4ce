import { assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../backend.ts";

Deno.test("a sum of nothing is 0, whatever the memory held", async () => {
  await selectBackend("wasm");
  for (let i = 0; i < 5; i++) {
    tf.fill([3], 7).dispose(); // Its memory is the next one's.
    const sums = tf.sum(tf.zeros([3, 0]), 1);
    assertEquals([...sums.dataSync()], [0, 0, 0]);
  }
  assertEquals([...tf.sum(tf.ones([2, 3]), 1).dataSync()], [3, 3]);
  assertEquals(tf.sum(tf.zeros([0, 3]), 1).shape, [0]);
});
