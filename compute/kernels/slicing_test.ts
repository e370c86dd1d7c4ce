import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { seeds, shapes } from "../testdata/arbitrary_shapes.ts";
import { given, testCompiled } from "../testdata/compiled_agrees.ts";

const dtypes = fc.constantFrom("float32", "int32", "bool");

const slices = shapes({ minRank: 1, maxLength: 5 }).chain((shape) =>
  fc.record({
    shape: fc.constant(shape),
    ranges: fc.tuple(...shape.map((length) =>
      fc.tuple(fc.nat(length - 1), fc.nat(length), fc.boolean())
    )),
    /** Axes at the end that are not named. */
    unnamed: fc.nat(shape.length - 1),
    dtype: dtypes,
    seed: seeds,
  })
);

testCompiled("slice", slices, ({ shape, ranges, unnamed, dtype, seed }) => {
  const named = ranges.slice(0, shape.length - unnamed);
  const begin = named.map(([from]) => from);
  const size = named.map(([from, length, rest], axis) =>
    rest ? -1 : Math.max(1, Math.min(length, shape[axis] - from))
  );
  return {
    fn: (x) => tf.slice(x, begin, size),
    inputs: [given(shape, { dtype, seed })],
    gradients: dtype === "float32",
  };
}, 40);

const strided = shapes({ minRank: 1, maxLength: 5 }).chain((shape) => {
  const { length: rank } = shape;
  const mask = fc.nat(2 ** rank - 1);
  return fc.record({
    shape: fc.constant(shape),
    begin: fc.tuple(
      ...shape.map((length) => fc.integer({ min: -length - 1, max: length })),
    ),
    end: fc.tuple(
      ...shape.map((length) =>
        fc.integer({ min: -length - 1, max: length + 1 })
      ),
    ),
    strides: fc.tuple(
      ...shape.map(() => fc.constantFrom<number>(1, 2, 3, -1, -2)),
    ),
    beginMask: mask,
    endMask: mask,
    ellipsis: fc.option(fc.nat(rank - 1)),
    newAxisMask: fc.oneof(fc.constant(0), mask),
    shrinkAxisMask: fc.oneof(fc.constant(0), mask),
    dtype: dtypes,
    seed: seeds,
  });
});
/** The `cpu` backend drops no axes, but numbers, where there are steps. */
const taken = strided.map((it) => {
  const ones = it.strides.map(() => 1);
  return it.shrinkAxisMask === 0 ? it : { ...it, strides: ones };
}).filter(isTaken);

type Strided = typeof strided extends fc.Arbitrary<infer T> ? T : never;

const apply = (it: Strided) => (x: tf.Tensor) =>
  tf.stridedSlice(
    x,
    it.begin,
    it.end,
    it.strides,
    it.beginMask,
    it.endMask,
    it.ellipsis === null ? 0 : 1 << it.ellipsis,
    it.newAxisMask,
    it.shrinkAxisMask,
  );

/** Whether TensorFlow.js takes the settings, and something is left. */
function isTaken(it: Strided): boolean {
  return tf.tidy(() => {
    try {
      return apply(it)(tf.zeros(it.shape)).size > 0;
    } catch {
      return false;
    }
  });
}

testCompiled("stridedSlice with all masks", taken, (it) => ({
  fn: apply(it),
  inputs: [given(it.shape, { dtype: it.dtype, seed: it.seed })],
}), 80);

testCompiled(
  "flipLeftRight",
  fc.record({ shape: shapes({ minRank: 4 }), seed: seeds }),
  ({ shape, seed }) => ({
    fn: (x) => tf.image.flipLeftRight(x as tf.Tensor4D),
    inputs: [given(shape, { seed })],
  }),
);
