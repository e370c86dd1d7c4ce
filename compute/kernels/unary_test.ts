import { assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { compile } from "../compile/compile.ts";
import type { DType } from "../graph/graph.ts";
import { seeds, shapes } from "../testdata/arbitrary_shapes.ts";
import {
  assertCompiledAgrees,
  type CompiledCase,
  exactly,
  given,
  testCompiled,
} from "../testdata/compiled_agrees.ts";
import { testCompiledEngines, testEngines } from "../testdata/engines.ts";

interface UnaryCase {
  readonly fn: (x: tf.Tensor) => tf.Tensor;
  /** Turns normal numbers into those that the function is defined for. */
  readonly of?: (x: number) => number;
  /** Whether TensorFlow.js takes whole numbers and booleans. */
  readonly whole?: boolean;
  /** Numbers that are not what they are on cpu, for a reason. */
  readonly except?: readonly number[];
}

const positive = (x: number) => Math.abs(x) + 0.1;
const inside = (x: number) => 0.95 * Math.tanh(x);

const CASES: Readonly<Record<string, UnaryCase>> = {
  abs: { fn: tf.abs, whole: true },
  acos: { fn: tf.acos, of: inside, whole: true },
  acosh: { fn: tf.acosh, of: (x) => 1 + positive(x), whole: true },
  asin: { fn: tf.asin, of: inside, whole: true },
  asinh: { fn: tf.asinh, whole: true },
  atan: { fn: tf.atan, whole: true },
  atanh: { fn: tf.atanh, of: inside, whole: true },
  ceil: { fn: tf.ceil },
  clipByValue: { fn: (x) => tf.clipByValue(x, -0.5, 0.7), whole: true },
  "clipByValue from below": {
    fn: (x) => tf.clipByValue(x, 0.5, Infinity),
    whole: true,
  },
  cos: { fn: tf.cos },
  cosh: { fn: tf.cosh },
  elu: { fn: tf.elu },
  erf: { fn: tf.erf },
  exp: { fn: tf.exp, whole: true },
  expm1: { fn: tf.expm1, whole: true },
  floor: { fn: tf.floor },
  identity: { fn: (x) => tf.reverse(x.clone()), whole: true },
  isFinite: { fn: tf.isFinite, whole: true },
  isInf: { fn: tf.isInf, whole: true },
  isNaN: { fn: tf.isNaN, whole: true },
  leakyRelu: { fn: (x) => tf.leakyRelu(x, 0.3), whole: true },
  log: { fn: tf.log, of: positive },
  log1p: { fn: tf.log1p, of: positive, whole: true },
  "log of sigmoid": { fn: (x) => tf.log(tf.sigmoid(x)) },
  logSigmoid: { fn: tf.logSigmoid },
  neg: { fn: tf.neg, whole: true },
  reciprocal: { fn: tf.reciprocal, of: positive, whole: true },
  relu: { fn: tf.relu, whole: true },
  relu6: { fn: tf.relu6, of: (x) => 6 * x, whole: true },
  round: { fn: tf.round, of: (x) => Math.round(4 * x) / 2, whole: true },
  rsqrt: { fn: tf.rsqrt, of: positive },
  selu: { fn: tf.selu, whole: true },
  sigmoid: { fn: tf.sigmoid },
  // As in TensorFlow: plain JavaScript has 0.
  sign: { fn: tf.sign, whole: true, except: [NaN] },
  sin: { fn: tf.sin },
  sinh: { fn: tf.sinh, whole: true },
  softplus: { fn: tf.softplus, whole: true },
  sqrt: { fn: tf.sqrt, of: positive },
  square: { fn: tf.square, whole: true },
  step: { fn: (x) => tf.step(x, 0.3), whole: true },
  tan: { fn: tf.tan, of: inside },
  tanh: { fn: tf.tanh },
};
const SPECIAL = [
  ...[0, -0, 1e-30, -1e-30, 1e-7, -1e-7, 0.5, -0.5, 1.5, 2.5, -1.5, 1, -1, 3],
  ...[-3, 6, 7, 20, -20, 87, -87, 1e4, -1e4, 1e20, -1e20],
  ...[NaN, Infinity, -Infinity],
];

const settings = fc.record({ shape: shapes(), seed: seeds });

for (const [name, { fn, of, whole, except = [] }] of Object.entries(CASES)) {
  const op = fn as CompiledCase["fn"];
  testCompiled(`${name} on random numbers`, settings, ({ shape, seed }) => ({
    fn: op,
    inputs: [given(shape, { seed, of })],
    gradients: !name.startsWith("is"),
  }), 10);
  testCompiledEngines(`${name} of special numbers`, (engine) => {
    const numbers = SPECIAL.filter((it) => !except.includes(it));
    assertCompiledAgrees(
      { fn: op, inputs: [exactly(numbers)], each: true },
      engine,
    );
  });
  if (!whole) continue;
  for (const dtype of ["int32", "bool"] as const satisfies DType[]) {
    testCompiled(`${name} of ${dtype}`, settings, ({ shape, seed }) => ({
      fn: op,
      inputs: [given(shape, { dtype, seed })],
    }), 5);
  }
}

/** Numbers where functions reach their bounds, of both signs, between NaN. */
const SATURATING = (() => {
  const bits = (it: number) => new Int32Array(Float32Array.of(it).buffer)[0];
  const between = (from: number, to: number) => {
    const length = Math.ceil((bits(to) - bits(from)) / 256);
    const all = Int32Array.from({ length }, (_, i) => bits(from) + 256 * i);
    return [...new Float32Array(all.buffer)];
  };
  const numbers = [...between(3.75, 4.25), ...between(7.5, 18)];
  return Float32Array.from(
    [NaN, numbers, numbers.map((it) => -it), NaN].flat(),
  );
})();

const slope = (fn: (x: tf.Tensor) => tf.Tensor) => (x: tf.Tensor) =>
  tf.grad(fn)(x);

for (
  const [name, { fn, low = -1, high = 1 }] of Object.entries<
    { fn: (x: tf.Tensor) => tf.Tensor; low?: number; high?: number }
  >({
    "tanh": { fn: tf.tanh },
    "tanh's square": { fn: (x) => tf.square(tf.tanh(x)), low: 0 },
    "tanh's slope": { fn: slope(tf.tanh), low: 0 },
    // Products alone take this one.
    "a hidden layer's slope": {
      fn: slope((x) => tf.matMul(tf.tanh(x) as tf.Tensor2D, [[1]])),
      low: 0,
    },
    "erf": { fn: tf.erf },
    "expm1": { fn: tf.expm1, high: Infinity },
    "sigmoid": { fn: tf.sigmoid, low: 0 },
  })
) {
  testEngines(`no number leaves the range of ${name}`, (engine) => {
    const { y } = compile(({ x }) => ({ y: fn(x) }), {
      name,
      inputs: { x: { shape: [SATURATING.length, 1], dtype: "float32" } },
      engine,
    }).run({ x: SATURATING });
    const outside = SATURATING.filter((_, i) => !(y[i] >= low && y[i] <= high));
    // What is no number stays none.
    assertEquals([...outside], [NaN, NaN]);
  });
}
