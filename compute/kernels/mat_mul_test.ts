import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { ACTIVATIONS, DIFFERENTIABLE } from "../testdata/activations.ts";
import { seeds } from "../testdata/arbitrary_shapes.ts";
import {
  assertCompiledAgrees,
  exactly,
  given,
  testCompiled,
} from "../testdata/compiled_agrees.ts";
import { testCompiledEngines } from "../testdata/engines.ts";

const length = fc.integer({ min: 1, max: 5 });
const columns = fc.constantFrom(1, 2, 9, 40, 41);

/** Shapes of matrices that can be multiplied, with axes before them. */
const products = fc.record({
  outer: fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 2 }),
  /** Axes that either side lacks or has 1 of. */
  narrow: fc.tuple(
    fc.integer({ min: 0, max: 3 }),
    fc.integer({ min: 0, max: 3 }),
  ),
  rows: length,
  inner: length,
  columns: length,
  transposeA: fc.boolean(),
  transposeB: fc.boolean(),
  seed: seeds,
});
type Product = typeof products extends fc.Arbitrary<infer T> ? T : never;

function outerOf(outer: readonly number[], narrow: number): number[] {
  if (narrow === 0) return [];
  return narrow === 1 ? outer.map(() => 1) : [...outer];
}

function shapesOf(it: Product): [number[], number[]] {
  const a = it.transposeA ? [it.inner, it.rows] : [it.rows, it.inner];
  const b = it.transposeB ? [it.columns, it.inner] : [it.inner, it.columns];
  return [
    [...outerOf(it.outer, it.narrow[0]), ...a],
    [...outerOf(it.outer, it.narrow[1]), ...b],
  ];
}

for (const dtype of ["float32", "int32", "bool"] as const) {
  testCompiled(`matMul of ${dtype}`, products, (it) => ({
    fn: (a, b) => tf.matMul(a, b, it.transposeA, it.transposeB),
    inputs: shapesOf(it).map((shape, i) =>
      given(shape, { seed: it.seed + i, dtype })
    ),
  }), 40);
}

const cases = [
  ["a transposed matrix with more rows", [70], [8, 9, 40], 0, 20],
  ["transposed matrices of many numbers", [300, 4100], [64], 24, 8],
] as const;
for (const [name, inner, rows, more, runs] of cases) {
  testCompiled(
    `matMul of ${name}`,
    fc.record({
      inner: fc.constantFrom(...inner),
      rows: fc.constantFrom(...rows),
      columns,
      seed: seeds,
    }),
    ({ inner, rows, columns, seed }) => ({
      fn: (a, b) => tf.matMul(a, b, true),
      inputs: [
        given([inner, rows], { seed }),
        given([inner, columns + more], { seed: seed + 1 }),
      ],
    }),
    runs,
  );
}

testCompiled("gradients of matMul", products, ({ narrow: _, ...it }) => ({
  fn: (a, b) => tf.matMul(a, b, it.transposeA, it.transposeB),
  // TensorFlow.js's gradient does not add up over axes that were broadcast.
  inputs: shapesOf({ ...it, narrow: [2, 2] }).map((shape, i) =>
    given(shape, { seed: it.seed + i })
  ),
  gradients: true,
}), 25);

for (const dtype of ["float32", "int32", "bool"] as const) {
  testCompiled(`a bias after matMul of ${dtype}`, products, (it) => ({
    fn: (a, b, bias) =>
      tf.add(bias, tf.matMul(a, b, it.transposeA, it.transposeB)),
    inputs: [
      ...shapesOf(it),
      [it.columns],
    ].map((shape, i) => given(shape, { seed: it.seed + i, dtype })),
  }));
}

for (const activation of ACTIVATIONS) {
  testCompiled(
    `fused matMul with ${activation}`,
    fc.record({ it: products, bias: fc.nat(2), gradients: fc.boolean() }),
    ({ it, bias, gradients }) => {
      const row = [it.columns];
      const inputs = [...shapesOf({ ...it, narrow: [2, 2] })];
      if (bias > 0) inputs.push(bias === 1 ? row : []);
      const { transposeA, transposeB } = it;
      return {
        fn: (a, b, ...rest) =>
          tf.fused.matMul({
            a,
            b,
            transposeA,
            transposeB,
            activation,
            bias: bias > 0 ? rest[0] : undefined,
            leakyreluAlpha: 0.3,
          }),
        inputs: inputs.map((shape, i) => given(shape, { seed: it.seed + i })),
        gradients: gradients && DIFFERENTIABLE.has(activation) &&
          it.outer.length === 0,
      };
    },
  );
}

testCompiledEngines(
  "products over nothing are 0, products of no rows none",
  (engine) => {
    const nothing = [exactly([], [2, 0]), exactly([], [0, 3])];
    for (const inputs of [nothing, [exactly([], [0, 2]), given([2, 3])]]) {
      assertCompiledAgrees({ fn: (a, b) => tf.matMul(a, b), inputs }, engine);
    }
  },
);
