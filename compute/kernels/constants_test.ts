import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { seeds, shapes } from "../testdata/arbitrary_shapes.ts";
import { given, testCompiled } from "../testdata/compiled_agrees.ts";

const ALL = ["float32", "int32", "bool"] as const;
const dtypes = fc.constantFrom(...ALL);
const numbers = fc.integer({ min: -8, max: 8 }).map((it) => it / 2);

testCompiled(
  "fill",
  fc.record({ shape: shapes(), value: numbers, dtype: dtypes }),
  ({ shape, value, dtype }) => ({
    fn: () => [
      tf.fill(shape, dtype === "bool" ? Number(value > 0) : value, dtype),
      tf.fill(shape, value),
      tf.zeros(shape, dtype),
      tf.ones(shape, dtype),
    ],
    inputs: [],
  }),
);

for (const dtype of ALL) {
  testCompiled(
    `zerosLike and onesLike of ${dtype}`,
    fc.record({ shape: shapes(), seed: seeds }),
    ({ shape, seed }) => ({
      fn: (x) => [
        tf.zerosLike(x),
        tf.onesLike(x),
        tf.concat1d([tf.onesLike(x).flatten(), x.flatten()]),
      ],
      inputs: [given(shape, { seed, dtype })],
    }),
  );
}

testCompiled(
  "range",
  fc.record({
    start: numbers,
    stop: numbers,
    step: fc.constantFrom(1, 2, 0.5, 0.3, -1, -0.7, undefined),
    dtype: fc.constantFrom("float32", "int32", undefined),
    // A decreasing range of small positive steps is a slip of TensorFlow.js's.
  }).filter(({ start, stop, step = 1 }) =>
    start <= stop || step < 0 || step >= 1
  ),
  ({ start, stop, step, dtype }) => ({
    fn: () => tf.range(start, stop, step, dtype as "int32"),
    inputs: [],
  }),
  60,
);

testCompiled(
  "linspace",
  fc.record({
    start: numbers,
    stop: numbers,
    num: fc.integer({ min: 1, max: 9 }),
  }),
  ({ start, stop, num }) => ({
    fn: () => tf.linspace(start, stop, num),
    inputs: [],
  }),
);
