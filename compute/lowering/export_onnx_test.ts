import { assert, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { exportOnnx } from "./export_onnx.ts";

await tf.setBackend("cpu");

const X = { x: { shape: [1, 8, 8, 16], dtype: "float32" } } as const;
const text = (file: Uint8Array) => new TextDecoder("latin1").decode(file);

Deno.test("a file has standard operators alone, convolutions included", () => {
  const filter = tf.randomNormal([3, 3, 16, 16]) as tf.Tensor4D;
  const file = text(exportOnnx(
    ({ x }) => ({ y: tf.relu(tf.conv2d(x, filter, 1, "valid")) }),
    { inputs: X },
  ));
  assert(file.includes("Conv"));
  assertEquals(file.includes("nchwc"), false);
  filter.dispose();
});

Deno.test("the same function gives the same file", () => {
  const write = () =>
    exportOnnx(({ x }) => ({ y: tf.mean(tf.tanh(x)) }), {
      inputs: X,
      metadata: { a: "1", b: "2" },
    });
  assertEquals(write(), write());
});
