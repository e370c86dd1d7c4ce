import { assertAlmostEquals, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { RandomStream } from "../../random_stream.ts";
import { assertNoLeak } from "../../testdata/assert_no_leak.ts";
import { assertBackendsAgree } from "../../testdata/backends_agree.ts";
import { selectBackend } from "../select_backend.ts";

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

Deno.test("gather and its gradient are those of cpu", async () => {
  const cases = fc.tuple(
    fc.integer({ min: 1, max: 5 }),
    fc.integer({ min: 1, max: 4 }),
    fc.array(fc.nat(20), { minLength: 1, maxLength: 8 }),
    fc.constantFrom(0, 1),
  );
  await fc.assert(fc.asyncProperty(cases, async ([rows, columns, at, axis]) => {
    const length = axis === 0 ? rows : columns;
    const indices = at.map((it) => it % length);
    await assertBackendsAgree({
      shapes: [[rows, columns]],
      op: (x) => tf.gather(x, tf.tensor1d(indices, "int32"), axis),
    });
  }));
});

Deno.test("rows are added up by segment, empty segments are 0", async () => {
  await selectBackend("wasm");
  const rows = tf.tensor2d([[1, 2], [3, 4], [5, 6], [7, 8]]);
  const ids = tf.tensor1d([2, 0, 2, -1], "int32");
  const sums = tf.unsortedSegmentSum(rows, ids, 4);
  assertEquals(sums.shape, [4, 2]);
  assertEquals([...sums.dataSync()], [3, 4, 0, 0, 6, 8, 0, 0]);
});

Deno.test("it leaves no memory behind", async () => {
  await selectBackend("wasm");
  const x = tf.ones([6, 3]);
  const ids = tf.tensor1d([0, 1, 0, 1, 0, 1], "int32");
  assertNoLeak(() => tf.unsortedSegmentSum(x, ids, 2).dispose());
});
