import { assertEquals, assertThrows } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { selectBackend } from "../backends/select_backend.ts";
import { compile, compileStep } from "../compile/compile.ts";
import { exactly, given, testCompiled } from "../testdata/compiled_agrees.ts";
import { testCompiledEngines, testEngines } from "../testdata/engines.ts";
import { float, typed } from "../testdata/traced.ts";
import { switchCase, whileLoop } from "./control_flow.ts";
import { scan } from "./scan.ts";
import { trace } from "./trace.ts";

await selectBackend("cpu");

const int = (value: number) => tf.scalar(value, "int32") as tf.Tensor;

/** Repeats a function so many times. */
function repeat(
  times: tf.Tensor,
  x: tf.Tensor,
  round: (x: tf.Tensor, i: tf.Tensor) => tf.Tensor,
): tf.Tensor {
  return whileLoop({ i: int(0), x }, {
    condition: ({ i }) => tf.less(i, times),
    body: ({ i, x }) => ({ i: tf.add(i, int(1)), x: round(x, i) }),
  }).x;
}

const sizes = fc.record({
  rows: fc.integer({ min: 1, max: 4 }),
  columns: fc.integer({ min: 1, max: 5 }),
  times: fc.integer({ min: 0, max: 6 }),
  seed: fc.integer({ min: 1, max: 99 }),
});

testCompiled("loops, with tensors from outside", sizes, (it) => ({
  fn: (x, w, times) => [
    repeat(times, x, (x, i) => {
      const scaled = tf.mul(tf.tanh(tf.matMul(x, w)), 0.5);
      return tf.add(scaled, tf.cast(i, "float32"));
    }),
    tf.neg(w),
  ],
  inputs: [
    given([it.rows, it.columns], { seed: it.seed }),
    given([it.columns, it.columns], { seed: it.seed + 1 }),
    exactly([it.times], [], "int32"),
  ],
}));

testCompiled("loops in loops", sizes, (it) => ({
  fn: (x, w, times) =>
    repeat(
      times,
      x,
      (x, i) =>
        repeat(i, x, (y, k) =>
          tf.add(tf.mul(y, w), tf.cast(tf.add(i, k), "float32"))),
    ),
  inputs: [
    given([it.rows], { seed: it.seed }),
    given([it.rows], { seed: it.seed + 1, of: Math.tanh }),
    exactly([it.times], [], "int32"),
  ],
}));

testCompiled("choices of functions", sizes, (it) => ({
  fn: (x, w, index) => {
    const both = tf.mul(x, w);
    const { y, n } = switchCase(index, [
      () => ({ y: both, n: int(7) }),
      () => ({ y: tf.add(tf.square(x), both), n: tf.add(index, int(1)) }),
      () => ({ y: tf.zerosLike(x), n: index }),
    ]);
    return [y, n, tf.exp(w)];
  },
  inputs: [
    given([it.rows, it.columns], { seed: it.seed }),
    given([it.columns], { seed: it.seed + 1 }),
    exactly([it.times - 1], [], "int32"),
  ],
}));

testCompiled(
  "gradients of what is inside",
  fc.record({ times: fc.integer({ min: 0, max: 4 }) }),
  ({ times }) => ({
    fn: (w, x, times) =>
      repeat(times, w, (w) => {
        const loss = (w: tf.Tensor) =>
          tf.mean(tf.square(tf.sub(tf.matMul(x, w), 1)));
        return tf.sub(w, tf.mul(tf.grad(loss)(w), 0.1));
      }),
    inputs: [
      given([3, 2]),
      given([4, 3], { seed: 2 }),
      exactly([times], [], "int32"),
    ],
  }),
);

testEngines("a loop of a state's tensors keeps nothing", (engine) => {
  const step = compileStep(({ x, n }, { times }) => {
    const state = whileLoop({ x: x as tf.Tensor, n: n as tf.Tensor }, {
      condition: ({ n }) => tf.less(tf.mod(n, times), tf.sub(times, int(1))),
      body: ({ x, n }) => ({ x: tf.add(x, 1), n: tf.add(n, int(1)) }),
    });
    return { state: { ...state, n: tf.add(state.n, int(1)) } };
  }, {
    state: { x: tf.zeros([3]), n: tf.scalar(0, "int32") },
    inputs: { times: typed("int32") },
    engine,
  });
  step.run({ times: 5 });
  const before = tf.memory().numTensors;
  for (let i = 0; i < 3; i++) step.run({ times: 5 });
  assertEquals(tf.memory().numTensors, before);
  assertEquals(step.read().n.data[0], 20);
  assertEquals([...step.read().x.data], [16, 16, 16]);
  step.close();
});

Deno.test("eager functions free what a round made", () => {
  const x = tf.ones([2]);
  const before = tf.memory().numTensors;
  const run = () =>
    tf.tidy(() => {
      const looped = repeat(int(3), x, (x) => tf.mul(x, 2));
      const { results } = scan({ y: looped }, {
        length: 2,
        rows: { row: tf.tensor2d([[1, 2], [3, 4]]) as tf.Tensor },
        body: ({ y }, { row }) => ({
          state: { y: tf.add(y, row) },
          results: { y },
        }),
      });
      const { sum } = switchCase(int(0), [() => ({ sum: results.y.sum() })]);
      return sum;
    });
  assertEquals(run().dataSync()[0], 8 * 4 + 3);
  assertEquals(tf.memory().numTensors, before + 1);
  assertEquals([...x.dataSync()], [1, 1]);
});

Deno.test("numbers are the same on cpu and wasm", async () => {
  const run = () =>
    tf.tidy(() => {
      const x = tf.tensor1d([0.5, -2]);
      const looped = repeat(int(4), x, (x, i) =>
        tf.add(tf.mul(x, 0.5), tf.cast(i, "float32")));
      const { y } = switchCase(int(1), [
        () => ({ y: looped }),
        () => ({ y: tf.neg(looped) }),
      ]);
      return [...y.dataSync()];
    });
  const cpu = run();
  await selectBackend("wasm");
  const wasm = run();
  await selectBackend("cpu");
  assertEquals(wasm, cpu);
});

testCompiledEngines("a state that goes round unchanged", (engine) => {
  const fn = compile(({ x, y }) => {
    const state = whileLoop({ x, y, i: int(0) } as Record<string, tf.Tensor>, {
      condition: ({ i }) => tf.less(i, int(2)),
      body: ({ x, y, i }) => ({ x: y, y: x, i: tf.add(i, int(1)) }),
    });
    return { ...state, again: x };
  }, { inputs: { x: float(2), y: float(2) }, engine });
  const made = fn.run({ x: Float32Array.of(1, 2), y: Float32Array.of(3, 4) });
  const { x, y, again } = made as unknown as Record<string, Float32Array>;
  assertEquals([[...x], [...y], [...again]], [[1, 2], [3, 4], [1, 2]]);
});

Deno.test("a graph shows what is inside of a loop", () => {
  const graph = trace(
    ({ x }) => ({ y: repeat(int(2), x, (x) => tf.tanh(x)) }),
    { x: float(2) },
  );
  assertEquals(String(graph).includes("Tanh"), true);
});

Deno.test("what cannot be looped is refused in one line", () => {
  const x = tf.zeros([2]);
  const forever = () => tf.scalar(true, "bool");
  const cases: Record<string, () => unknown> = {
    "Cannot loop on a condition of float32[2]: expected one truth value": () =>
      whileLoop({ x }, { condition: () => x, body: (it) => it }),
    "Cannot loop: 'x' comes as float32[3], expected float32[2]": () =>
      whileLoop({ x: x as tf.Tensor }, {
        condition: forever,
        body: () => ({ x: tf.zeros([3]) }),
      }),
    "Cannot loop: 'y' comes, which is not expected": () =>
      whileLoop({ x } as Record<string, tf.Tensor>, {
        condition: forever,
        body: () => ({ x, y: x }),
      }),
    "Cannot take the gradient of a loop": () =>
      tf.grad((x) => tf.sum(repeat(int(1), x, (x) => tf.neg(x))))(x),
    "Cannot choose a function by float32[]: expected one number of int32": () =>
      switchCase(tf.scalar(0), [() => ({ x })]),
  };
  for (const [message, call] of Object.entries(cases)) {
    assertThrows(call, TypeError, message);
    assertThrows(() => trace(() => ({ made: call() }), {}), TypeError, message);
  }
  assertThrows(() => switchCase(int(0), []), RangeError, "among no functions");
});
