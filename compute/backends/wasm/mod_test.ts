import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { RandomStream } from "../../random_stream.ts";
import { assertNoLeak } from "../../testdata/assert_no_leak.ts";
import { assertBackendsAgree } from "../../testdata/backends_agree.ts";
import { selectBackend } from "../select_backend.ts";

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

async function onWasm(values: number[]): Promise<Float32Array> {
  await selectBackend("wasm");
  return tf.tidy(() => tf.tanh(tf.tensor1d(values)).dataSync() as Float32Array);
}

Deno.test("tanh is exact to float32, relative to its size", async () => {
  const number = fc.float({ min: -20, max: 20, noNaN: true });
  await fc.assert(
    fc.asyncProperty(fc.array(number, { minLength: 1 }), async (values) => {
      (await onWasm(values)).forEach((it, i) => {
        const exact = Math.tanh(values[i]);
        assert(Math.abs(it - exact) <= 1e-6 * Math.abs(exact), `${values[i]}`);
      });
    }),
  );
});

Deno.test("it is odd, saturates, and passes NaN on", async () => {
  const values = await onWasm([0, 1e-20, 0.25, -0.25, 100, -100, NaN]);
  assertEquals(values[0], 0);
  assertEquals(values[1], Math.fround(1e-20));
  assertEquals(values[2], -values[3]);
  assertEquals([values[4], values[5]], [1, -1]);
  assert(Number.isNaN(values[6]));
});

Deno.test("it leaves no memory behind", async () => {
  await onWasm([1]);
  const before = tf.engine().backend.numDataIds();
  for (let i = 0; i < 20; i++) await onWasm([1, 2, 3]);
  assertEquals(tf.engine().backend.numDataIds(), before);
});

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

Deno.test("a kernel that wasm does not have is an error that names it", async () => {
  await selectBackend("wasm");
  const x = tf.ones([1, 4, 4, 1]) as tf.Tensor4D;
  assertThrows(
    () => tf.dilation2d(x, tf.ones([2, 2, 1]) as tf.Tensor3D, 1, "valid"),
    Error,
    "Kernel 'Dilation2D' not registered for backend 'wasm'",
  );
});

Deno.test("slices and splits of one piece copy their part alone", async () => {
  await selectBackend("wasm");
  const x = tf.tensor2d([1, 2, 3, 4, 5, 6], [3, 2]);
  const vector = tf.reshape(x, [6]), backend = tf.backend();
  const { readSync } = backend;
  const parts = () => [
    ...tf.split(vector, [1, 3, 2]),
    ...tf.split(x, [2, 1]),
    tf.slice(vector, 2, 2),
    tf.slice(x, [1, 0], [-1, 2]),
  ];
  let sliced: tf.Tensor[];
  try {
    backend.readSync = () => {
      throw new Error("copied the whole");
    };
    sliced = parts();
  } finally {
    backend.readSync = readSync;
  }
  assertEquals(sliced.map((it) => [...it.dataSync()]), [
    ...[[1], [2, 3, 4], [5, 6]],
    ...[[1, 2, 3, 4], [5, 6]],
    ...[[3, 4], [3, 4, 5, 6]],
  ]);
  assertEquals(sliced.map((it) => it.shape), [
    ...[[1], [3], [2]],
    ...[[2, 2], [1, 2]],
    ...[[2], [2, 2]],
  ]);
});

Deno.test("splits along the last axis are cpu's, with the gradient", () =>
  assertBackendsAgree({
    shapes: [[4, 5]],
    op: (x) => tf.mul(tf.split(x, [2, 1, 2], 1)[0], tf.split(x, [2, 3], -1)[0]),
  }));
