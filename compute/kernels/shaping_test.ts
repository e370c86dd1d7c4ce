import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import type { DType } from "../graph/graph.ts";
import {
  axesOf,
  dtypes,
  seeds,
  shapeAndAxis,
  shapes,
} from "../testdata/arbitrary_shapes.ts";
import {
  given,
  testCompiled,
  testCompiledOne,
} from "../testdata/compiled_agrees.ts";

const any = { dtype: dtypes, seed: seeds };
const numbers = fc.constantFrom<DType>("float32", "int32");
const few = fc.integer({ min: 1, max: 3 });

/** Where there are gradients. */
const isFloat = (dtype: string) => dtype === "float32";

testCompiledOne(
  "reshape, flatten and squeeze",
  fc.record({ shape: shapes({ minRank: 1 }), ...any }),
  (x, { shape }) =>
    tf.squeeze(tf.reshape(tf.reverse(x, 0), [1, -1, 1, shape[0]]), [0, 2]),
);

/** A shape and one of its axes, of any type. */
const placed = fc.tuple(shapeAndAxis(), fc.record(any))
  .map(([at, it]) => ({ ...at, ...it }));

testCompiledOne("expandDims", placed, (x, { axis }) => tf.expandDims(x, axis));

const orders = shapes().chain((shape) =>
  fc.record({
    shape: fc.constant(shape),
    perm: fc.shuffledSubarray(shape.map((_, axis) => axis), {
      minLength: shape.length,
    }),
    reps: fc.tuple(...shape.map(() => few)),
    axes: axesOf(shape.length),
    ...any,
  })
);

testCompiledOne(
  "transpose",
  orders,
  (x, { perm }) => tf.transpose(x, perm),
  { runs: 20 },
);

testCompiledOne("tile", orders, (x, { reps }) => tf.tile(x, reps), {
  runs: 20,
  gradients: ({ shape }) => shape.length > 0,
});

testCompiledOne("reverse", orders, (x, { axes }) => tf.reverse(x, axes), {
  runs: 20,
});

testCompiledOne(
  "broadcastTo",
  fc.record({
    whole: shapes({ maxRank: 2 }),
    ones: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
    more: shapes({ maxRank: 2 }),
    ...any,
  }).map((it) => ({
    ...it,
    shape: it.whole.map((length, i) => it.ones[i] ? 1 : length),
  })),
  (x, { whole, more }) => tf.broadcastTo(x, [...more, ...whole]),
  { runs: 20 },
);

const parts = fc.tuple(
  placed,
  fc.array(few, { minLength: 1, maxLength: 4 }),
).map(([it, lengths]) => ({ ...it, lengths }));

testCompiled("concat", parts, ({ shape, axis, lengths, dtype, seed }) => ({
  fn: (...xs) => tf.concat(xs, axis),
  inputs: lengths.map((length, i) =>
    given(shape.with(axis, length), { dtype, seed: seed + i })
  ),
  gradients: isFloat(dtype),
}), 25);

testCompiled(
  "concat of several types",
  fc.record({ types: fc.tuple(numbers, numbers, numbers), seed: seeds }),
  ({ types, seed }) => ({
    fn: (...xs) => tf.concat(xs),
    inputs: types.map((dtype, i) => given([3], { dtype, seed: seed + i })),
  }),
);

testCompiled("stack", parts, ({ shape, axis, lengths, dtype, seed }) => ({
  fn: (...xs) => tf.stack(xs, axis),
  inputs: lengths.map((_, i) => given(shape, { dtype, seed: seed + i })),
  gradients: isFloat(dtype),
}), 25);

testCompiledOne("unstack", parts, (x, { axis }) => tf.unstack(x, axis), {
  gradients: () => false,
});

/** TensorFlow.js has no gradients of lists of one. */
testCompiled("the gradient of unstack", parts, (it) => ({
  fn: (x) => tf.addN(tf.unstack(x, it.axis).map((it, i) => tf.mul(it, i + 1))),
  inputs: [
    given(it.shape.with(it.axis, it.lengths.length + 1), { seed: it.seed }),
  ],
  gradients: true,
}));

const splits = fc.record({ parts, equal: fc.boolean(), rest: fc.boolean() });

testCompiled("split", splits, ({ parts, equal, rest }) => {
  const { shape, axis, lengths, dtype, seed } = parts;
  const count = lengths.length;
  const total = equal ? 2 * count : lengths.reduce((a, b) => a + b, 0);
  const last = rest && count > 1;
  const sizes = equal ? count : last ? lengths.with(count - 1, -1) : lengths;
  return {
    fn: (x) => tf.split(x, sizes, axis),
    inputs: [given(shape.with(axis, total), { dtype, seed })],
  };
}, 25);

testCompiled("the gradient of split", parts, ({ shape, axis, ...it }) => ({
  fn: (x) => {
    const parts = tf.split(x, [1, ...it.lengths], axis);
    return tf.concat(parts.map((it, i) => tf.mul(it, i + 1)), axis);
  },
  inputs: [
    given(shape.with(axis, it.lengths.reduce((a, b) => a + b, 1)), {
      seed: it.seed,
    }),
  ],
  gradients: true,
}));

const paddings = shapes({ minRank: 1 }).chain((shape) =>
  fc.record({
    shape: fc.constant(shape),
    paddings: fc.tuple(...shape.map(() => fc.tuple(fc.nat(2), fc.nat(2)))),
    value: fc.constantFrom(0, 1, -2.5),
    ...any,
  })
);

testCompiledOne(
  "pad",
  paddings,
  (x, { paddings, value, dtype }) =>
    tf.pad(x, paddings, dtype === "bool" ? Math.abs(Math.sign(value)) : value),
  {
    runs: 25,
  },
);

const slices = shapes({ minRank: 1, maxLength: 5 }).chain((shape) =>
  fc.record({
    shape: fc.constant(shape),
    ranges: fc.tuple(...shape.map((length) =>
      fc.tuple(fc.nat(length - 1), fc.nat(length), fc.boolean())
    )),
    /** Axes at the end that are not named. */
    unnamed: fc.nat(shape.length - 1),
    ...any,
  })
);

testCompiledOne("slice", slices, (x, { shape, ranges, unnamed }) => {
  const named = ranges.slice(0, shape.length - unnamed);
  const size = named.map(([from, length, rest], axis) =>
    rest ? -1 : Math.max(1, Math.min(length, shape[axis] - from))
  );
  return tf.slice(x, named.map(([from]) => from), size);
}, { runs: 40 });

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
    ...any,
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

testCompiledOne("stridedSlice with all masks", taken, (x, it) => apply(it)(x), {
  runs: 80,
  gradients: () => false,
});
