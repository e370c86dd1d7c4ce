import { assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { selectBackend } from "../backends/select_backend.ts";
import { compile } from "../compile/compile.ts";
import type { DType } from "../graph/graph.ts";
import { optimize } from "../graph/passes/optimize.ts";
import {
  broadcastShapes,
  seeds,
  shapes,
} from "../testdata/arbitrary_shapes.ts";
import {
  assertCompiledAgrees,
  exactly,
  given,
  testCompiled,
} from "../testdata/compiled_agrees.ts";
import { testCompiledEngines } from "../testdata/engines.ts";
import { float, operationsOf } from "../testdata/traced.ts";
import { trace } from "../tracing/trace.ts";

type Op = (a: tf.Tensor, b: tf.Tensor) => tf.Tensor;

interface BinaryCase {
  readonly fn: Op;
  /** Turns normal numbers into those that the function is defined for. */
  readonly of?: (x: number) => number;
  readonly dtypes?: readonly DType[];
  readonly gradients?: boolean;
  /** True where TensorFlow.js takes equal shapes alone. */
  readonly alike?: boolean;
  /** Pairs of numbers that are not what they are on cpu, for a reason. */
  readonly except?: (a: number, b: number) => boolean;
}

const positive = (x: number) => Math.abs(x) + 0.1;
/** Few different numbers, so that some are equal. */
const ties = (x: number) => Math.round(2 * x) / 2;
const ALL = ["float32", "int32", "bool"] as const;
const NUMBERS = ["float32", "int32"] as const;
const isInfinite = (x: number) => Math.abs(x) === Infinity;

const ordering = { dtypes: ALL, gradients: true, alike: true } as const;

const CASES: Readonly<Record<string, BinaryCase>> = {
  add: { fn: tf.add, dtypes: ALL, gradients: true },
  sub: { fn: tf.sub, dtypes: ALL, gradients: true },
  mul: { fn: tf.mul, dtypes: ALL, gradients: true },
  div: { fn: tf.div, of: positive, dtypes: ALL, gradients: true },
  divNoNan: { fn: tf.divNoNan, of: ties },
  floorDiv: {
    fn: tf.floorDiv,
    of: (x) => 7 * x,
    dtypes: ALL,
    // Plain JavaScript has the quotient's last 32 bits.
    except: (a, b) => Math.abs(a / b) >= 2 ** 31 && b !== 0,
  },
  mod: {
    fn: tf.mod,
    of: (x) => 7 * x,
    dtypes: ALL,
    // As in Python: plain JavaScript has NaN, or 0 where the sum is rounded.
    except: (_, b) => isInfinite(b) || Math.abs(b) === 1e20,
  },
  pow: {
    fn: tf.pow,
    of: positive,
    dtypes: NUMBERS,
    gradients: true,
    // 1 as in C: plain JavaScript has NaN.
    except: (a, b) => Math.abs(a) === 1 && !Number.isFinite(b),
  },
  maximum: { ...ordering, fn: tf.maximum, of: ties },
  minimum: { ...ordering, fn: tf.minimum, of: ties },
  squaredDifference: { ...ordering, fn: tf.squaredDifference },
  atan2: {
    fn: tf.atan2,
    dtypes: ALL,
    gradients: true,
    // The quotient of infinities is none, and the sign of 0 is not looked at.
    except: (a, b) =>
      isInfinite(a) && isInfinite(b) || Object.is(a, -0) || Object.is(b, -0),
  },
  equal: { fn: tf.equal, of: ties, dtypes: ALL },
  notEqual: { fn: tf.notEqual, of: ties, dtypes: ALL },
  less: { fn: tf.less, of: ties, dtypes: ALL },
  lessEqual: { fn: tf.lessEqual, of: ties, dtypes: ALL },
  greater: { fn: tf.greater, of: ties, dtypes: ALL },
  greaterEqual: { fn: tf.greaterEqual, of: ties, dtypes: ALL },
  logicalAnd: { fn: tf.logicalAnd, dtypes: ["bool"] },
  logicalOr: { fn: tf.logicalOr, dtypes: ["bool"] },
  logicalXor: { fn: tf.logicalXor, dtypes: ["bool"] },
};

const SPECIAL = [
  ...[0, -0, 1, -1, 0.5, -2.5, 3, 1e4, -1e20, NaN, Infinity, -Infinity],
];

/** Both shapes, one of them broadcast to the other or both to a third. */
const settings = fc.record({ pair: broadcastShapes(2), seed: seeds });

function shapesFor({ alike }: BinaryCase, [a, b]: number[][]): number[][] {
  if (!alike) return [a, b];
  const whole = tf.broadcast_util.assertAndGetBroadcastShape(a, b);
  return [whole, whole];
}

for (const [name, it] of Object.entries(CASES)) {
  const { fn, of, gradients, dtypes = ["float32"], except } = it;
  const op = fn as (...xs: tf.Tensor[]) => tf.Tensor;
  for (const dtype of dtypes) {
    const isFloat = dtype === "float32";
    testCompiled(`${name} of ${dtype}`, settings, ({ pair, seed }) => ({
      fn: op,
      inputs: shapesFor(it, pair).map((shape, i) =>
        given(shape, { seed: seed + i, dtype, of: isFloat ? of : undefined })
      ),
      gradients: isFloat && gradients,
    }), 10);
  }
  if (!dtypes.includes("float32")) continue;
  testCompiledEngines(`${name} of special numbers`, (engine) => {
    const pairs = SPECIAL.flatMap((a) => SPECIAL.map((b) => [a, b]))
      .filter(([a, b]) => !except?.(a, b));
    const inputs = [0, 1].map((i) => exactly(pairs.map((pair) => pair[i])));
    assertCompiledAgrees({ fn: op, inputs, each: true }, engine);
  });
}

testCompiledEngines("whole numbers that no processor divides", (engine) => {
  const [least, most] = [-(2 ** 31), 2 ** 31 - 1];
  const pairs = [
    ...[[least, -1], [least, 1], [most, -1], [least, least], [5, 0], [-5, 0]],
    ...[[0, 0], [7, -2], [-7, 2], [least, 2]],
  ];
  for (const fn of [tf.floorDiv, tf.mod, tf.div] as Op[]) {
    const inputs = [0, 1].map((i) =>
      exactly(pairs.map((pair) => pair[i]), undefined, "int32")
    );
    assertCompiledAgrees({ fn: fn as never, inputs }, engine);
  }
});

const choice = fc.record({
  broadcast: broadcastShapes(3),
  seed: seeds,
  types: fc.tuple(fc.constantFrom(...ALL), fc.constantFrom(...ALL)),
});

testCompiled("where", choice, ({ broadcast: [c, a, b], seed, types }) => ({
  fn: (c, a, b) => tf.where(c, a, b),
  inputs: [
    given(c, { seed, dtype: "bool" }),
    given(a, { seed: seed + 1, dtype: types[0] }),
    given(b, { seed: seed + 2, dtype: types[1] }),
  ],
}), 40);

testCompiled("where, its gradient", choice, ({ broadcast, seed }) => {
  const [shape] = broadcast;
  const mask = given(shape, { seed: seed + 2, dtype: "bool" }).data;
  return {
    fn: (a, b) => tf.where(tf.tensor(mask, shape, "bool"), a, tf.mul(a, b)),
    inputs: [given(shape, { seed }), given(shape, { seed: seed + 1 })],
    gradients: true,
  };
}, 20);

/** The `cpu` backend takes the wrong numbers here. */
testCompiledEngines("a condition of rank 1 chooses rows", (engine) => {
  const x = { shape: [2, 2], dtype: "float32" } as const;
  const choose = compile(({ condition, t, e }) => ({
    y: tf.engine().runKernel("Select", { condition, t, e }) as tf.Tensor,
  }), {
    inputs: { condition: { shape: [2], dtype: "bool" }, t: x, e: x },
    engine,
  });
  const { y } = choose.run({
    condition: Uint8Array.of(0, 1),
    t: Float32Array.of(1, 2, 3, 4),
    e: Float32Array.of(-1, -2, -3, -4),
  });
  assertEquals([...y], [-1, -2, 3, 4]);
});

testCompiled(
  "addN",
  fc.record({
    shape: shapes(),
    count: fc.integer({ min: 1, max: 4 }),
    seed: seeds,
    dtype: fc.constantFrom(...ALL),
  }),
  ({ shape, count, seed, dtype }) => ({
    fn: (...xs) => tf.addN(xs),
    inputs: Array.from(
      { length: count },
      (_, i) => given(shape, { seed: seed + i, dtype }),
    ),
    gradients: dtype === "float32",
  }),
);

await selectBackend("cpu");

testCompiled("the gradient of relu", shapes(), (shape) => ({
  fn: (x) => tf.relu(x),
  inputs: [given(shape)],
  gradients: true,
}));

testCompiled("at 0 it is 0", shapes(), (shape) => ({
  fn: (x) => tf.relu(x),
  inputs: [given(shape, { of: Math.trunc })],
  gradients: true,
}));

Deno.test("it is one operation of what relu makes", () => {
  const gradient = tf.valueAndGrad((x: tf.Tensor) => tf.relu(x));
  const graph = optimize(trace(
    ({ x, dy }) => ({ ...gradient(x, dy) }),
    { x: float(2, 3), dy: float(2, 3) },
  ));
  assertEquals(operationsOf(graph), ["Relu", "ReluGrad"]);
});
