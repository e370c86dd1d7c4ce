import { assertAlmostEquals, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { selectBackend } from "../backend.ts";
import { RandomStream } from "../random_stream.ts";

const length = fc.integer({ min: 1, max: 5 });
const cases = fc.tuple(
  fc.tuple(length, length, length, length),
  fc.boolean(),
  fc.boolean(),
);

function product(
  [[batch, rows, inner, columns], transposeA, transposeB]: [
    [number, number, number, number],
    boolean,
    boolean,
  ],
): tf.Tensor {
  const stream = new RandomStream(4);
  const make = (shape: [number, number, number]): tf.Tensor3D =>
    tf.tensor3d(
      stream.fillNormal(new Float32Array(shape[0] * shape[1] * shape[2])),
      shape,
    );
  const a = make(transposeA ? [batch, inner, rows] : [batch, rows, inner]);
  const b = make(
    transposeB ? [batch, columns, inner] : [batch, inner, columns],
  );
  return tf.matMul(a, b, transposeA, transposeB);
}

Deno.test("products of transposed matrices on wasm are the cpu backend's", async () => {
  await fc.assert(fc.asyncProperty(cases, async (it) => {
    await selectBackend("cpu");
    const expected = product(it);
    const values = expected.dataSync();
    await selectBackend("wasm");
    const actual = product(it);
    assertEquals(actual.shape, expected.shape);
    actual.dataSync().forEach((value, i) =>
      assertAlmostEquals(value, values[i], 1e-5)
    );
  }));
});

Deno.test("the transposed copies are freed", async () => {
  await selectBackend("wasm");
  const backend = tf.engine().backend;
  const once = () =>
    tf.tidy(() => product([[1, 4, 5, 6], true, true]).dataSync());
  once();
  const before = backend.numDataIds();
  for (let i = 0; i < 20; i++) once();
  assertEquals(backend.numDataIds(), before);
});
