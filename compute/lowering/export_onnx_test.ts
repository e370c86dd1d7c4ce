import { assert, assertEquals, assertThrows } from "@std/assert";
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

Deno.test("an open batch refuses what depends on its length otherwise", () => {
  const batch = "rows";
  const x = { shape: [1, 3], dtype: "float32" } as const;
  assertThrows(
    () =>
      exportOnnx(({ x }) => ({ y: tf.div(tf.sum(x, 0), x.shape[0]) }), {
        inputs: { x },
        batch,
      }),
    TypeError,
    "Cannot leave the batch open: the function does other operations on other lengths of it; give the length",
  );
  const file = text(
    exportOnnx(({ x }) => ({ y: tf.sum(x, 0), z: tf.tanh(x) }), {
      inputs: { x },
      batch,
    }),
  );
  assertEquals(file.match(/rows/g)?.length, 2, "of the input and one output");
});
