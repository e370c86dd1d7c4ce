import { assertAlmostEquals, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { compile } from "../compile/compile.ts";
import { seeds, shapes } from "../testdata/arbitrary_shapes.ts";
import {
  assertCompiledAgrees,
  exactly,
  given,
  testCompiled,
} from "../testdata/compiled_agrees.ts";
import { testCompiledEngines } from "../testdata/engines.ts";

const ALL = ["float32", "int32", "bool"] as const;

for (const from of ALL) {
  testCompiled(
    `casts of ${from}`,
    fc.record({ shape: shapes(), seed: seeds }),
    ({ shape, seed }) => ({
      fn: (x) => [
        ...ALL.map((to) => tf.cast(x, to)),
        ...ALL.map((to) => tf.cast(tf.cast(x, "int32"), to)),
        ...ALL.map((to) => tf.cast(tf.cast(x, "bool"), to)),
      ],
      inputs: [given(shape, { dtype: from, seed, of: (x) => 3 * x })],
    }),
  );
}

testCompiled(
  "the gradient of a cast",
  fc.record({ shape: shapes(), seed: seeds }),
  ({ shape, seed }) => ({
    fn: (x) => tf.mul(x, tf.cast(tf.cast(x, "int32"), "float32")),
    inputs: [given(shape, { seed })],
    gradients: true,
  }),
);

/** NaN and what no whole number holds are left out: ONNX leaves them open. */
testCompiledEngines(
  "a cast to whole numbers comes before that to Booleans",
  (engine) => {
    assertCompiledAgrees({
      fn: (x) => tf.cast(tf.cast(x, "int32"), "bool"),
      inputs: [exactly([0.5, -0.5, 1.5, 0])],
    }, engine);
  },
);

testCompiledEngines("casts of special numbers", (engine) => {
  const finite = exactly([0, -0, 0.5, -0.5, 1.99, -1.99, 1e-30, 2e9, -2e9]);
  assertCompiledAgrees({
    fn: (x) => [tf.cast(x, "int32"), tf.cast(x, "bool")],
    inputs: [finite],
  }, engine);
  assertCompiledAgrees({
    fn: (x) => tf.cast(x, "bool"),
    inputs: [exactly([NaN, Infinity, -Infinity])],
  }, engine);
  assertCompiledAgrees({
    fn: (x) => [tf.cast(x, "float32"), tf.cast(x, "bool")],
    inputs: [exactly([2 ** 31 - 1, -(2 ** 31), 2 ** 24 + 1], [3], "int32")],
  }, engine);
});

testCompiledEngines("bytes are seen as whole numbers", (engine) => {
  const fn = compile(({ x }) => ({
    whole: tf.mul(x, tf.scalar(2, "int32")),
    scaled: tf.div(tf.cast(x, "float32"), 255),
    any: tf.cast(x, "bool"),
  }), { inputs: { x: { shape: [3], dtype: "uint8" } }, engine, threads: 1 });
  const { whole, scaled, any } = fn.run({ x: Uint8Array.of(0, 51, 255) });
  assertEquals(whole, Int32Array.of(0, 102, 510));
  scaled.forEach((it, i) => assertAlmostEquals(it, [0, 0.2, 1][i], 1e-7));
  assertEquals(any, Uint8Array.of(0, 1, 1));
});
