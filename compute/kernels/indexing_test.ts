import { assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { compile } from "../compile/compile.ts";
import {
  dtypes,
  seeds,
  shapeAndAxis,
  shapes,
} from "../testdata/arbitrary_shapes.ts";
import {
  exactly,
  given,
  indices,
  testCompiled,
  testCompiledOne,
} from "../testdata/compiled_agrees.ts";
import { testCompiledEngines } from "../testdata/engines.ts";

const ALL = ["float32", "int32", "bool"] as const;
const few = fc.integer({ min: 1, max: 3 });
const ties = (x: number) => Math.round(2 * x) / 2;

testCompiledOne(
  "gather over any axis and its gradient",
  fc.record({
    at: shapeAndAxis(),
    ids: shapes({ maxRank: 2 }),
    dtype: dtypes,
    seed: seeds,
  }).map(({ at, ...it }) => ({ ...at, ...it })),
  (x, { shape, axis, ids, seed }) => {
    const { data } = indices(ids, { end: shape.at(axis)!, seed });
    return tf.gather(x, tf.tensor(data, ids, "int32"), axis);
  },
  // TensorFlow.js's gradient knows no negative axes and no single index.
  { runs: 40, gradients: ({ axis, ids }) => axis >= 0 && ids.length > 0 },
);

testCompiled(
  "gather by indices that are an input",
  fc.record({ at: shapeAndAxis(), ids: shapes({ maxRank: 2 }), seed: seeds }),
  ({ at: { shape, axis }, ids, seed }) => ({
    fn: (x, at) => tf.gather(x, at as tf.Tensor1D, axis),
    inputs: [
      given(shape, { seed }),
      indices(ids, { end: shape.at(axis)!, seed }),
    ],
  }),
);

testCompiled(
  "gather in batches",
  fc.record({
    batch: shapes({ minRank: 1, maxRank: 2, maxLength: 3 }),
    outer: shapes({ maxRank: 1 }),
    length: few,
    inner: shapes({ maxRank: 1 }),
    ids: shapes({ maxRank: 2 }),
    negative: fc.boolean(),
    dtype: dtypes,
    seed: seeds,
  }),
  ({ batch, outer, length, inner, ids, negative, dtype, seed }) => {
    const shape = [...batch, ...outer, length, ...inner];
    const axis = batch.length + outer.length;
    return {
      fn: (x, at) =>
        tf.gather(
          x,
          at as tf.Tensor1D,
          negative ? axis - shape.length : axis,
          batch.length,
        ),
      inputs: [
        given(shape, { dtype, seed }),
        indices([...batch, ...ids], { end: length, seed }),
      ],
    };
  },
  30,
);

/** A place for each row: as many numbers as there are axes indexed. */
function places(
  rows: readonly number[],
  shape: readonly number[],
  seed: number,
) {
  const columns = shape.map((end, i) =>
    indices(rows, { end, seed: seed + i }).data
  );
  const count = rows.reduce((a, b) => a * b, 1);
  const data = Int32Array.from(
    { length: count * shape.length },
    (_, i) => columns[i % shape.length][Math.floor(i / shape.length)],
  );
  return { shape: [...rows, shape.length], dtype: "int32", data } as const;
}

const byPlace = shapes({ minRank: 1 }).chain((shape) =>
  fc.record({
    shape: fc.constant(shape),
    depth: fc.integer({ min: 1, max: shape.length }),
    rows: shapes({ minRank: 1, maxRank: 2, maxLength: 5 }),
    dtype: dtypes,
    seed: seeds,
  })
);

testCompiled("gatherND", byPlace, ({ shape, depth, rows, dtype, seed }) => ({
  fn: (x, at) => tf.gatherND(x, at),
  inputs: [
    given(shape, { dtype, seed }),
    places(rows, shape.slice(0, depth), seed),
  ],
}), 25);

for (const dtype of ["float32", "int32"] as const) {
  testCompiled(
    `scatterND of ${dtype} adds up duplicates`,
    byPlace,
    ({ shape, depth, rows, seed }) => ({
      fn: (at, updates) => tf.scatterND(at, updates, shape),
      inputs: [
        places(rows, shape.slice(0, depth), seed),
        given([...rows, ...shape.slice(depth)], { dtype, seed }),
      ],
    }),
    25,
  );
}

/** Places that differ: of equal ones, any may win. */
const distinct = fc.record({
  length: fc.integer({ min: 2, max: 6 }),
  inner: shapes({ maxRank: 2 }),
  order: fc.shuffledSubarray([0, 1, 2, 3, 4, 5], { minLength: 1 }),
  dtype: dtypes,
  seed: seeds,
});

testCompiled(
  "tensorScatterUpdate",
  distinct,
  ({ length, inner, order, dtype, seed }) => {
    const rows = order.filter((it) => it < length);
    return {
      fn: (x, at, updates) => tf.tensorScatterUpdate(x, at, updates),
      inputs: [
        given([length, ...inner], { dtype, seed }),
        exactly(rows, [rows.length, 1], "int32"),
        given([rows.length, ...inner], { dtype, seed: seed + 1 }),
      ],
    };
  },
);

testCompiled(
  "oneHot, out of range too",
  fc.record({
    ids: shapes({ maxRank: 3 }),
    depth: fc.integer({ min: 2, max: 4 }),
    values: fc.constantFrom([1, 0], [2.5, -1.5], [0, 1]),
    dtype: fc.constantFrom(...ALL, undefined),
    seed: seeds,
  }),
  ({ ids, depth, values: [on, off], dtype, seed }) => ({
    fn: (at) =>
      tf.oneHot(
        at,
        depth,
        on,
        dtype === "bool" ? Math.abs(off) : off,
        dtype as "int32",
      ),
    inputs: [given(ids, { seed, dtype: "int32" })],
  }),
  40,
);

const segments = fc.record({
  rows: fc.integer({ min: 1, max: 6 }),
  inner: shapes({ maxRank: 2 }),
  count: few,
  seed: seeds,
});

testCompiled(
  "unsortedSegmentSum leaves out ids out of range",
  segments,
  ({ rows, inner, count, seed }) => ({
    fn: (x, ids) => tf.unsortedSegmentSum(x, ids as tf.Tensor1D, count),
    inputs: [
      given([rows, ...inner], { seed }),
      given([rows], { seed: seed + 1, dtype: "int32" }),
    ],
  }),
  25,
);

/** TensorFlow.js's gradient knows ids below the range alone. */
testCompiled(
  "the gradient of unsortedSegmentSum",
  segments,
  ({ rows, inner, count, seed }) => {
    const ids = given([rows], { seed, dtype: "int32" }).data
      .map((id) => Math.min(id, count - 1)) as Int32Array;
    return {
      fn: (x) => tf.unsortedSegmentSum(x, tf.tensor1d(ids, "int32"), count),
      inputs: [given([rows, ...inner], { seed })],
      gradients: true,
    };
  },
  25,
);

/** TensorFlow keeps the type; the `cpu` backend makes it floating-point. */
testCompiledEngines("segments of whole numbers are whole numbers", (engine) => {
  const x = exactly([1, 2, 3], [3], "int32");
  const sum = compile(
    ({ x, ids }) => ({ y: tf.unsortedSegmentSum(x, ids as tf.Tensor1D, 2) }),
    {
      inputs: { x, ids: x },
      engine,
      threads: 1,
    },
  );
  const { y } = sum.run({ x: x.data, ids: Int32Array.of(1, 0, 1) });
  assertEquals(y, Int32Array.of(2, 4));
});

for (const dtype of ["float32", "int32"] as const) {
  testCompiledOne(
    `topk of ${dtype}, the first of equals`,
    fc.record({
      shape: shapes({ minRank: 1, maxLength: 6 }),
      k: fc.integer({ min: 1, max: 6 }),
      seed: seeds,
    }).map((it) => ({ ...it, dtype, of: ties })),
    (x, { shape, k }) => Object.values(tf.topk(x, Math.min(k, shape.at(-1)!))),
    { runs: 25, gradients: () => false },
  );
}

/** TensorFlow.js knows no negative axes here. */
const scans = fc.record({
  at: shapeAndAxis(),
  exclusive: fc.boolean(),
  reverse: fc.boolean(),
  seed: seeds,
}).map(({ at: { shape, axis }, ...it }) => ({
  shape,
  axis: axis < 0 ? axis + shape.length : axis,
  ...it,
}));

for (const dtype of ALL) {
  const typed = scans.map((it) => ({ ...it, dtype }));
  testCompiledOne(
    `cumsum of ${dtype}`,
    typed,
    (x, it) => tf.cumsum(x, it.axis, it.exclusive, it.reverse),
    {
      runs: 25,
      // TensorFlow.js's gradient is that of the last axis.
      gradients: ({ axis, shape }) => axis === shape.length - 1,
    },
  );
  testCompiledOne(
    `cumprod of ${dtype}`,
    typed,
    (x, it) => tf.cumprod(x, it.axis, it.exclusive, it.reverse),
    {
      runs: 25,
      gradients: () => false,
    },
  );
}
