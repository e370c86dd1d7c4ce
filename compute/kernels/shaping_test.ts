import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import type { DType } from "../graph/graph.ts";
import {
  axesOf,
  seeds,
  shapeAndAxis,
  shapes,
} from "../testdata/arbitrary_shapes.ts";
import { given, testCompiled } from "../testdata/compiled_agrees.ts";

const ALL = ["float32", "int32", "bool"] as const;
const dtypes = fc.constantFrom(...ALL);
const numbers = fc.constantFrom<DType>("float32", "int32");
const few = fc.integer({ min: 1, max: 3 });

/** Where there are gradients. */
const isFloat = (dtype: string) => dtype === "float32";

testCompiled(
  "reshape, flatten and squeeze",
  fc.record({ shape: shapes({ minRank: 1 }), dtype: dtypes, seed: seeds }),
  ({ shape, dtype, seed }) => ({
    fn: (x) =>
      tf.squeeze(tf.reshape(tf.reverse(x, 0), [1, -1, 1, shape[0]]), [0, 2]),
    inputs: [given(shape, { dtype, seed })],
    gradients: isFloat(dtype),
  }),
);

testCompiled(
  "expandDims",
  fc.record({ at: shapeAndAxis(), dtype: dtypes, seed: seeds }),
  ({ at: { shape, axis }, dtype, seed }) => ({
    fn: (x) => tf.expandDims(x, axis),
    inputs: [given(shape, { dtype, seed })],
    gradients: isFloat(dtype),
  }),
);

const orders = shapes().chain((shape) =>
  fc.record({
    shape: fc.constant(shape),
    perm: fc.shuffledSubarray(shape.map((_, axis) => axis), {
      minLength: shape.length,
    }),
    reps: fc.tuple(...shape.map(() => few)),
    axes: axesOf(shape.length),
    dtype: dtypes,
    seed: seeds,
  })
);

testCompiled("transpose", orders, ({ shape, perm, dtype, seed }) => ({
  fn: (x) => tf.transpose(x, perm),
  inputs: [given(shape, { dtype, seed })],
  gradients: isFloat(dtype),
}), 20);

testCompiled("tile", orders, ({ shape, reps, dtype, seed }) => ({
  fn: (x) => tf.tile(x, reps),
  inputs: [given(shape, { dtype, seed })],
  gradients: isFloat(dtype) && shape.length > 0,
}), 20);

testCompiled("reverse", orders, ({ shape, axes, dtype, seed }) => ({
  fn: (x) => tf.reverse(x, axes),
  inputs: [given(shape, { dtype, seed })],
  gradients: isFloat(dtype),
}), 20);

testCompiled(
  "broadcastTo",
  fc.record({
    shape: shapes({ maxRank: 2 }),
    ones: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
    more: shapes({ maxRank: 2 }),
    dtype: dtypes,
    seed: seeds,
  }),
  ({ shape, ones, more, dtype, seed }) => ({
    fn: (x) => tf.broadcastTo(x, [...more, ...shape]),
    inputs: [
      given(shape.map((length, i) => ones[i] ? 1 : length), { dtype, seed }),
    ],
    gradients: isFloat(dtype),
  }),
  20,
);

const parts = fc.record({
  at: shapeAndAxis(),
  lengths: fc.array(few, { minLength: 1, maxLength: 4 }),
  dtype: dtypes,
  seed: seeds,
});

testCompiled(
  "concat",
  parts,
  ({ at: { shape, axis }, lengths, dtype, seed }) => ({
    fn: (...xs) => tf.concat(xs, axis),
    inputs: lengths.map((length, i) =>
      given(shape.with(axis, length), { dtype, seed: seed + i })
    ),
    gradients: isFloat(dtype),
  }),
  25,
);

testCompiled(
  "concat of several types",
  fc.record({ types: fc.tuple(numbers, numbers, numbers), seed: seeds }),
  ({ types, seed }) => ({
    fn: (...xs) => tf.concat(xs),
    inputs: types.map((dtype, i) => given([3], { dtype, seed: seed + i })),
  }),
);

testCompiled(
  "stack",
  parts,
  ({ at: { shape, axis }, lengths, dtype, seed }) => ({
    fn: (...xs) => tf.stack(xs, axis),
    inputs: lengths.map((_, i) => given(shape, { dtype, seed: seed + i })),
    gradients: isFloat(dtype),
  }),
  25,
);

testCompiled("unstack", parts, ({ at: { shape, axis }, dtype, seed }) => ({
  fn: (x) => tf.unstack(x, axis),
  inputs: [given(shape, { dtype, seed })],
}));

/** TensorFlow.js has no gradients of lists of one. */
testCompiled("the gradient of unstack", parts, ({ at, lengths, seed }) => ({
  fn: (x) => tf.addN(tf.unstack(x, at.axis).map((it, i) => tf.mul(it, i + 1))),
  inputs: [given(at.shape.with(at.axis, lengths.length + 1), { seed })],
  gradients: true,
}));

const splits = fc.record({ parts, equal: fc.boolean(), rest: fc.boolean() });

testCompiled("split", splits, ({ parts, equal, rest }) => {
  const { at: { shape, axis }, lengths, dtype, seed } = parts;
  const count = lengths.length;
  const total = equal ? 2 * count : lengths.reduce((a, b) => a + b, 0);
  const last = rest && count > 1;
  const sizes = equal ? count : last ? lengths.with(count - 1, -1) : lengths;
  return {
    fn: (x) => tf.split(x, sizes, axis),
    inputs: [given(shape.with(axis, total), { dtype, seed })],
  };
}, 25);

testCompiled("the gradient of split", parts, ({ at, lengths, seed }) => ({
  fn: (x) => {
    const parts = tf.split(x, [1, ...lengths], at.axis);
    return tf.concat(parts.map((it, i) => tf.mul(it, i + 1)), at.axis);
  },
  inputs: [
    given(at.shape.with(at.axis, lengths.reduce((a, b) => a + b, 1)), { seed }),
  ],
  gradients: true,
}));

const paddings = shapes({ minRank: 1 }).chain((shape) =>
  fc.record({
    shape: fc.constant(shape),
    paddings: fc.tuple(...shape.map(() => fc.tuple(fc.nat(2), fc.nat(2)))),
    value: fc.constantFrom(0, 1, -2.5),
    mode: fc.constantFrom<"reflect" | "symmetric">("reflect", "symmetric"),
    dtype: dtypes,
    seed: seeds,
  })
);

testCompiled("pad", paddings, ({ shape, paddings, value, dtype, seed }) => ({
  fn: (x) =>
    tf.pad(x, paddings, dtype === "bool" ? Math.abs(Math.sign(value)) : value),
  inputs: [given(shape, { dtype, seed })],
  gradients: isFloat(dtype),
}), 25);

testCompiled(
  "mirrorPad",
  paddings,
  ({ shape, paddings, mode, dtype, seed }) => ({
    fn: (x) =>
      tf.mirrorPad(
        x,
        paddings.map((sides, axis) =>
          sides.map((it) =>
            Math.min(it, shape[axis] - (mode === "reflect" ? 1 : 0))
          )
        ) as [number, number][],
        mode,
      ),
    inputs: [given(shape, { dtype, seed })],
  }),
  25,
);

testCompiled(
  "diag",
  fc.record({
    shape: shapes({ minRank: 1, maxRank: 2 }),
    dtype: dtypes,
    seed: seeds,
  }),
  ({ shape, dtype, seed }) => ({
    fn: (x) => tf.diag(x),
    inputs: [given(shape, { dtype, seed })],
  }),
);

const blocks = fc.record({
  batch: few,
  counts: fc.tuple(few, few),
  block: fc.tuple(few, few),
  channels: few,
  /** Whether only one axis is cut into blocks. */
  one: fc.boolean(),
  seed: seeds,
});

testCompiled("batchToSpaceND and spaceToBatchND", blocks, (it) => {
  const count = it.one ? 1 : 2;
  const block = it.block.slice(0, count);
  const product = block.reduce((a, b) => a * b, 1);
  const crops = block.map((length) => [length - 1, 0]);
  return {
    fn: (x) => {
      const space = tf.batchToSpaceND(x, block, crops);
      return tf.concat1d([
        space.flatten(),
        tf.spaceToBatchND(space, block, crops).flatten(),
      ]);
    },
    inputs: [
      given([it.batch * product, ...it.counts, it.channels], { seed: it.seed }),
    ],
    gradients: true,
  };
}, 25);

testCompiled("depthToSpace", blocks, (it) => ({
  fn: (x) => tf.depthToSpace(x as tf.Tensor4D, it.block[0] + 1),
  inputs: [
    given([it.batch, ...it.counts, it.channels * (it.block[0] + 1) ** 2], {
      seed: it.seed,
    }),
  ],
}));

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
