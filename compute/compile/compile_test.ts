import {
  assert,
  assertEquals,
  assertNotStrictEquals,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../backends/select_backend.ts";
import { assertNoLeak } from "../testdata/assert_no_leak.ts";
import {
  INSTALLED,
  testCompiledEngines,
  testEngines as test,
} from "../testdata/engines.ts";
import { float, typed } from "../testdata/traced.ts";
import { compile, compileStep } from "./compile.ts";
import type { EngineName } from "./options.ts";

await selectBackend("cpu");

test("inputs and outputs may be nested", (engine) => {
  const compiled = compile(({ params, x }) => ({
    y: { value: tf.add(tf.matMul(x, params.w), params.b), stats: {} },
    best: tf.argMax(x, 1),
    isHigh: tf.greater(x, 2.5),
  }), {
    inputs: { params: { w: float(2, 1), b: float(1) }, x: float(2, 2) },
    engine,
  });
  assertEquals(compiled.engine, engine);
  const result = compiled.run({
    params: { w: Float32Array.of(10, 1), b: Float32Array.of(0.5) },
    x: Float32Array.of(1, 2, 4, 3),
  });
  assertEquals(result, {
    y: { value: Float32Array.of(12.5, 43.5), stats: {} },
    best: Int32Array.of(1, 0),
    isHigh: Uint8Array.of(0, 0, 1, 1),
  });
});

test("a number, an array, a tensor or data with a shape is taken", (engine) => {
  const compiled = compile(
    ({ x, rate, count }) => ({
      y: tf.mul(tf.mul(x, rate), tf.cast(count, "float32")),
    }),
    {
      inputs: { x: float(2), rate: float(1, 1), count: typed("int32") },
      engine,
    },
  );
  const x = Float32Array.of(1, 2);
  const ways = [x, tf.tensor1d(x), { data: x, shape: [2] }];
  for (const way of ways) {
    const { y } = compiled.run({ x: way, rate: 0.5, count: 3 });
    assertEquals([...y], [1.5, 3]);
  }
  const { y } = compiled.run({
    x,
    rate: Float32Array.of(2),
    count: tf.scalar(-1, "int32"),
  });
  assertEquals([...y], [-2, -4]);
});

test("bytes are whole numbers to the function", (engine) => {
  const compiled = compile(
    ({ pixels }) => ({ sum: tf.sum(pixels), same: pixels }),
    { inputs: { pixels: typed("uint8", 2) }, engine },
  );
  const { sum, same } = compiled.run({ pixels: Uint8Array.of(255, 255) });
  assertEquals([...sum, ...same], [510, 255, 255]);
});

test("empty tensors are taken and made", (engine) => {
  const compiled = compile(
    ({ x }) => ({ sum: tf.sum(x), none: tf.neg(x) }),
    { inputs: { x: float(0, 3) }, engine },
  );
  const { sum, none } = compiled.run({ x: new Float32Array() });
  assertEquals([...sum, none.length], [0, 0]);
});

test("a function may take nothing and may leave inputs alone", (engine) => {
  const constant = compile(() => ({ y: tf.tensor1d([1, 2]) }), {
    inputs: {},
    engine,
  });
  assertEquals([...constant.run({}).y], [1, 2]);
  const alone = compile(({ x }) => ({ x }), {
    inputs: { unused: float(3), x: float(1) },
    engine,
  });
  const { x } = alone.run({ unused: new Float32Array(3), x: 7 });
  assertEquals([...x], [7]);
});

test("a result may be the next call's input", (engine) => {
  const step = compile(
    ({ x }) => {
      const next = tf.mul(x, 2);
      return { x: next, both: tf.add(x, tf.sum(tf.sub(next, x))), before: x };
    },
    { inputs: { x: float(2) }, engine },
  );
  let result = step.run({ x: Float32Array.of(1, 2) });
  for (let i = 1; i < 5; i++) {
    result = step.run({ x: result.x });
    const [a, b] = [2 ** i, 2 ** (i + 1)];
    assertEquals([...result.x], [2 * a, 2 * b]);
    assertEquals([...result.before], [a, b]);
    assertEquals([...result.both], [2 * a + b, a + 2 * b]);
  }
  const { before } = step.run({ x: result.before });
  assertEquals([...before], [16, 32]);
});

Deno.test("results are written anew by the next call of onnx", () => {
  const twice = compile(({ x }) => ({ y: tf.mul(x, 2) }), {
    inputs: { x: float(1) },
    engine: "onnx",
  });
  const first = twice.run({ x: 1 }).y;
  const second = twice.run({ x: 2 }).y;
  assertStrictEquals(first, second);
  assertEquals([...first], [4]);
});

Deno.test("results of eager are copies, of given tensors too", () => {
  const given = tf.tensor1d([1, 2]);
  const same = compile(({ x }) => ({ x }), {
    inputs: { x: float(2) },
    engine: "eager",
  });
  const { x } = same.run({ x: given });
  assertNotStrictEquals(x, given.dataSync());
  x[0] = 9;
  assertEquals([...given.dataSync()], [1, 2]);
});

test("arrays that are new at every call give right numbers", (engine) => {
  const sum = compile(({ a, b }) => ({ y: tf.add(a, b) }), {
    inputs: { a: float(2), b: float(2) },
    engine,
  });
  const fixed = Float32Array.of(1, 2);
  for (let i = 0; i < 3000; i++) {
    const { y } = sum.run({ a: Float32Array.of(i, -i), b: fixed });
    assertEquals(y[0] === i + 1 && y[1] === 2 - i, true);
  }
});

Deno.test("arrays that were transferred are refused", () => {
  const twice = compile(({ x }) => ({ y: tf.mul(x, 2) }), {
    inputs: { x: float(2) },
    engine: "onnx",
  });
  const x = Float32Array.of(1, 2);
  twice.run({ x });
  structuredClone(x, { transfer: [x.buffer] });
  assertThrows(() => twice.run({ x }), RangeError, "transferred");
  const { y } = twice.run({ x: Float32Array.of(1, 2) });
  structuredClone(y, { transfer: [y.buffer as ArrayBuffer] });
  assertThrows(
    () => twice.run({ x: Float32Array.of(1, 2) }),
    RangeError,
    "Cannot use the array of 'y': it was transferred or resized",
  );
});

test("calls leave no tensors behind", (engine) => {
  const compiled = compile(
    ({ x }) => ({ dx: tf.grad((x) => tf.sum(tf.square(x)))(x) }),
    { inputs: { x: float(2) }, engine },
  );
  const given = tf.tensor1d([1, 2]);
  assertNoLeak(() => compiled.run({ x: given }));
  given.dispose();
});

test("the graph is that of the declared shapes", (engine) => {
  const { graph } = compile(
    ({ x }) => ({ y: tf.add(tf.mul(x, 1), tf.exp(x)) }),
    { inputs: { x: float(2) }, engine },
  );
  assertEquals(graph.nodes.map(({ op }) => op), ["Exp", "Add"]);
});

Deno.test("equal functions share a session, and are apart all the same", () => {
  const make = () =>
    compile(({ x }) => ({ y: tf.mul(x, 2) }), {
      inputs: { x: float(1) },
      engine: "onnx",
    });
  const [a, b] = [make(), make()];
  const y = a.run({ x: 1 }).y;
  assertEquals([...b.run({ x: 2 }).y, ...y], [4, 2]);
});

testCompiledEngines("compiled and eager numbers are the same", (engine) => {
  const fn = ({ x, w }: { x: tf.Tensor; w: tf.Tensor }) => {
    const loss = (w: tf.Tensor) =>
      tf.mean(tf.logSoftmax(tf.tanh(tf.matMul(x, w))));
    return { loss: loss(w), dw: tf.grad(loss)(w) };
  };
  const inputs = { x: float(8, 4), w: float(4, 3) };
  const data = (size: number) =>
    Float32Array.from({ length: size }, (_, i) => Math.sin(i));
  const given = { x: data(32), w: data(12) };
  const [compiled, eager] = [engine, "eager" as const].map((engine) =>
    compile(fn, { inputs, engine }).run(given)
  );
  for (const name of ["loss", "dw"] as const) {
    compiled[name].forEach((it, i) =>
      assert(Math.abs(it - eager[name][i]) < 1e-6, `${name} ${i}`)
    );
  }
});

/** A step of leaves of three types, one of them a scalar. */
function mixedStep(engine: EngineName) {
  const state = {
    w: tf.tensor2d([[1, 2], [3, 4]]),
    counters: {
      steps: tf.scalar(0, "int32"),
      seen: tf.tensor1d([0, 1], "bool"),
    },
    rate: tf.scalar(0.5),
  };
  return compileStep(({ w, counters: { steps, seen }, rate }, { x }) => ({
    state: {
      w: tf.add(w, tf.mul(x, rate)),
      counters: {
        steps: tf.add(steps, tf.scalar(1, "int32")),
        seen: tf.logicalNot(seen),
      },
      rate: tf.mul(rate, 0.5),
    },
    before: w,
  }), { state, inputs: { x: float() }, engine, name: "mixed" });
}

test("the state moves, leaves of any type and rank", (engine) => {
  const step = mixedStep(engine);
  assertEquals(step.engine, engine);
  const { before } = step.run({ x: 2 });
  assertEquals([...before], [1, 2, 3, 4]);
  step.run({ x: 4 });
  assertEquals(step.read(), {
    w: { data: Float32Array.of(3, 4, 5, 6), shape: [2, 2] },
    counters: {
      steps: { data: Int32Array.of(2), shape: [] },
      seen: { data: Uint8Array.of(0, 1), shape: [2] },
    },
    rate: { data: Float32Array.of(0.125), shape: [] },
  });
  step.close();
});

test("read copies, and write restores exactly", (engine) => {
  const step = mixedStep(engine);
  step.run({ x: 1 });
  const saved = step.read();
  step.run({ x: 2 });
  const after = step.read();
  assertNotStrictEquals(saved.w.data, after.w.data);
  assertEquals([...saved.w.data], [1.5, 2.5, 3.5, 4.5]);
  step.write(saved);
  assertEquals(step.read(), saved);
  saved.w.data[0] = 99;
  step.run({ x: 2 });
  assertEquals(step.read(), after);
  step.close();
});

test("a part of a state is written, and the rest stays", (engine) => {
  const step = mixedStep(engine);
  step.run({ x: 1 });
  const before = step.read();
  const w = { ...before.w, data: Float32Array.of(5, 6, 7, 8) };
  step.writePart({ w });
  assertEquals(step.read(), { ...before, w });
  const unknown = { v: w } as never;
  assertThrows(() => step.writePart(unknown), RangeError, "no such tensor");
  const short = { w: { data: new Float32Array(3), shape: [3] } };
  assertThrows(
    () => step.writePart(short),
    RangeError,
    "expected float32[2,2]",
  );
  assertEquals(step.read(), { ...before, w });
  step.close();
});

test("the first state's tensors are copied", (engine) => {
  const w = tf.tensor1d([1, 2]);
  const step = compileStep(
    ({ w }) => ({ state: { w: tf.add(w, 1) } }),
    { state: { w }, inputs: {}, engine },
  );
  step.run({});
  assertEquals([...w.dataSync()], [1, 2]);
  w.dispose();
  step.run({});
  assertEquals([...step.read().w.data], [3, 4]);
  step.close();
});

test("writing a state that does not fit changes nothing", (engine) => {
  const step = mixedStep(engine);
  const saved = step.read();
  const { w, counters } = saved;
  const refused = (state: unknown, message: string) =>
    assertThrows(() => step.write(state as never), Error, message);
  refused({ ...saved, w: undefined }, "Cannot write a state without 'state.w'");
  refused(
    { ...saved, w: { ...w, shape: [4] } },
    "Cannot write 'state.w' from 4 numbers of shape [4]: expected float32[2,2]",
  );
  refused(
    { ...saved, w: { data: new Float32Array(3), shape: [2, 2] } },
    "3 num",
  );
  refused(
    {
      ...saved,
      counters: { ...counters, steps: { data: Float32Array.of(1), shape: [] } },
    },
    "Cannot write 'state.counters.steps' from a Float32Array: expected int32[] in a Int32Array",
  );
  refused({ ...saved, v: w }, "Cannot write 'state.v': the state has no such");
  refused(undefined, "expected tensors in nested records");
  assertEquals(step.read(), saved);
  step.close();
});

test("other compiled functions read the state in place", (engine) => {
  for (const reader of INSTALLED) {
    const step = mixedStep(engine);
    const sum = compile(({ w }) => ({ sum: tf.sum(w) }), {
      inputs: { w: float(2, 2) },
      engine: reader,
    });
    const sums = [1, 2, 3].map((x) => {
      step.run({ x });
      return sum.run({ w: step.state.w }).sum[0];
    });
    assertEquals(sums, [12, 14, 15.5]);
    step.close();
  }
});

test("a step may take its own state as an input", (engine) => {
  const step = compileStep(
    ({ w }, { x }) => ({ state: { w: tf.add(tf.mul(w, 2), x) }, x }),
    { state: { w: tf.tensor1d([1, 2]) }, inputs: { x: float(2) }, engine },
  );
  for (let i = 0; i < 4; i++) {
    const [a, b] = [3 ** i, 2 * 3 ** i];
    assertEquals([...step.run({ x: step.state.w }).x], [a, b]);
  }
  step.close();
});

Deno.test("a state of before may be an input, though it is being written", () => {
  const step = compileStep(
    ({ w }, { x }) => {
      const next = tf.mul(w, 2);
      return { state: { w: next }, y: tf.add(tf.exp(tf.mul(0, next)), x) };
    },
    { state: { w: tf.tensor1d([1]) }, inputs: { x: float(1) }, engine: "onnx" },
  );
  const before = step.state.w as Float32Array;
  step.run({ x: 0 });
  assertEquals([...step.run({ x: before }).y], [2]);
});

Deno.test("the state of onnx lies in two places, in turns", () => {
  const step = mixedStep("onnx");
  const first = step.state.w;
  step.run({ x: 1 });
  const second = step.state.w;
  step.run({ x: 1 });
  assertNotStrictEquals(first, second);
  assertStrictEquals(step.state.w, first);
});

test("another step goes on from where the state is", (engine) => {
  // Long enough for loops, which write some of the state where they read it.
  const size = 2048;
  type State = { w: tf.Tensor; v: tf.Tensor };
  const move = ({ w, v }: State, rate: tf.Tensor) => {
    const gradient = tf.sin(w);
    const next = tf.add(tf.mul(v, 0.9), tf.mul(tf.square(gradient), 0.1));
    const change = tf.div(tf.mul(gradient, rate), tf.sqrt(tf.add(next, 1e-3)));
    return { w: tf.sub(w, change), v: next };
  };
  const make = () =>
    compileStep((state: State, { rate }) => ({
      state: move(state, rate),
      sum: tf.sum(state.w),
    }), {
      state: { w: tf.range(0, size), v: tf.ones([size]) },
      inputs: { rate: float() },
      engine,
    });
  const [step, plain] = [make(), make()];
  const quiet = step.also((state, { rate }) => ({ state: move(state, rate) }));
  for (const [i, rate] of [0.1, 0.2, 0.3, 0.2, 0.1].entries()) {
    const wanted = plain.run({ rate });
    if (i % 3 === 1) assertEquals(step.run({ rate }), wanted);
    else assertEquals(quiet.run({ rate }), {});
  }
  assertEquals(step.read(), plain.read());
  for (const it of [step, plain]) it.close();
});

test("what one step passes on, another may change", (engine) => {
  // Long enough for loops.
  const size = 2048;
  type State = { w: tf.Tensor; kept: tf.Tensor };
  const move = ({ w, kept }: State) =>
    tf.sub(w, tf.mul(tf.sqrt(tf.square(tf.mul(w, 0.5))), tf.mul(kept, 0.125)));
  const renew = ({ w, kept }: State) => tf.add(tf.mul(kept, 0.5), w);
  const init = { w: tf.range(0, size), kept: tf.ones([size]) };
  const step = compileStep(
    (state: State) => ({ state: { w: move(state), kept: state.kept } }),
    { state: init, inputs: {}, engine },
  );
  const other = step.also((state: State) => ({
    state: { w: move(state), kept: renew(state) },
  }));
  let { w, kept }: State = init;
  for (const renews of [false, true, false, false, true, true, false]) {
    (renews ? other : step).run({});
    [w, kept] = [move({ w, kept }), renews ? renew({ w, kept }) : kept];
    const read = step.read();
    for (const [made, wanted] of [[read.w, w], [read.kept, kept]] as const) {
      const numbers = wanted.dataSync();
      // XLA multiplies and adds in one rounding.
      const within = engine === "xla" ? 1e-5 : 0;
      made.data.forEach((it, i) => {
        const size = Math.max(1, Math.abs(numbers[i]));
        assert(Math.abs(it - numbers[i]) <= within * size);
      });
    }
    step.write(read);
  }
  if (engine === "onnx") {
    const made = step.graph.outputs.map(({ name }) => name);
    assert(!made.includes("state.kept"), `${made}`);
  }
  step.close();
});

test("records without tensors stay", (engine) => {
  const step = compileStep(
    ({ w, slots }) => ({
      state: { w: tf.add(w, Object.keys(slots).length + 1), slots },
      stats: {},
    }),
    { state: { w: tf.scalar(0), slots: {} }, inputs: {}, engine },
  );
  assertEquals(step.run({}), { stats: {} });
  assertEquals(step.state.slots, {});
  assertEquals(step.read(), {
    w: { data: Float32Array.of(1), shape: [] },
    slots: {},
  });
  step.write(step.read());
  step.run({});
  assertEquals(step.read().w.data[0], 2);
  step.close();
});

test("a step without state is a function", (engine) => {
  const step = compileStep(
    (_, { x }) => ({ state: {}, y: tf.exp(x) }),
    { state: {}, inputs: { x: float() }, engine },
  );
  assertEquals([...step.run({ x: 0 }).y], [1]);
  assertEquals(step.read(), {});
});

test("a new state of another name, shape or type is refused", (engine) => {
  const state = { w: tf.tensor1d([1, 2]) };
  const refused = (make: (w: tf.Tensor) => unknown, message: string) => {
    const act = () =>
      compileStep(
        ({ w }) => ({ state: make(w) as { w: tf.Tensor } }),
        { state, inputs: {}, engine, name: "learn" },
      ).run({});
    assertThrows(act, TypeError, message);
  };
  const action = engine === "eager" ? "run" : "compile";
  refused(() => ({}), `Cannot ${action} learn: it returns no 'state.w'`);
  refused(
    (w) => ({ w: tf.sum(w) }),
    `Cannot ${action} learn: it returns 'state.w' as float32[], its state has float32[2]`,
  );
  refused((w) => ({ w: tf.cast(w, "int32") }), "as int32[2], its state has");
  refused(
    (w) => ({ w, v: w }),
    "it returns 'state.v', which its state does not",
  );
  refused(() => undefined, "");
});

test("a step that fails leaves the state as it was", (engine) => {
  const step = mixedStep(engine);
  const before = step.read();
  assertThrows(() => step.run({} as never), TypeError, "without the input 'x'");
  assertEquals(step.read(), before);
  step.run({ x: 1 });
  assertEquals(step.read().counters.steps.data[0], 1);
  step.close();
});

test("inputs of another shape move the same state", (engine) => {
  const notices: string[] = [];
  const step = compileStep(
    ({ total }, { x }) => ({ state: { total: tf.add(total, tf.sum(x)) } }),
    {
      state: { total: tf.scalar(0) },
      inputs: { x: float(2) },
      engine,
      name: "total",
      onNotice: (line) => notices.push(line),
    },
  );
  for (const length of [2, 3, 2, 3]) {
    const data = new Float32Array(length).fill(1);
    step.run({ x: { data, shape: [length] } });
  }
  assertEquals(step.read().total.data[0], 10);
  assertEquals(notices.length, engine === "eager" ? 0 : 1);
  step.close();
});

test("steps leave no tensors behind", (engine) => {
  const before = tf.memory().numTensors;
  const step = mixedStep(engine);
  const saved = step.read();
  assertNoLeak(() => {
    step.run({ x: 1 });
    step.write(saved);
    assertThrows(() => step.run({} as never));
  });
  step.close();
  // The four that the state was given as.
  assertEquals(tf.memory().numTensors, before + 4);
});
