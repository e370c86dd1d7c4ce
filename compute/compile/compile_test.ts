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
import { float, typed } from "../testdata/traced.ts";
import { compile } from "./compile.ts";

await selectBackend("cpu");

const ENGINES = ["onnx", "eager"] as const;

/** A test for each engine. */
function testEngines(
  name: string,
  test: (engine: "onnx" | "eager") => void,
): void {
  for (const engine of ENGINES) {
    Deno.test(`${name} (${engine})`, () => test(engine));
  }
}

testEngines("inputs and outputs may be nested", (engine) => {
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

testEngines(
  "a number, an array, a tensor or data with a shape is taken",
  (engine) => {
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
  },
);

testEngines("bytes are whole numbers to the function", (engine) => {
  const compiled = compile(
    ({ pixels }) => ({ sum: tf.sum(pixels), same: pixels }),
    { inputs: { pixels: typed("uint8", 2) }, engine },
  );
  const { sum, same } = compiled.run({ pixels: Uint8Array.of(255, 255) });
  assertEquals([...sum, ...same], [510, 255, 255]);
});

testEngines("empty tensors are taken and made", (engine) => {
  const compiled = compile(
    ({ x }) => ({ sum: tf.sum(x), none: tf.neg(x) }),
    { inputs: { x: float(0, 3) }, engine },
  );
  const { sum, none } = compiled.run({ x: new Float32Array() });
  assertEquals([...sum, none.length], [0, 0]);
});

testEngines(
  "a function may take nothing and may leave inputs alone",
  (engine) => {
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
  },
);

testEngines("a result may be the next call's input", (engine) => {
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

testEngines(
  "arrays that are new at every call give right numbers",
  (engine) => {
    const sum = compile(({ a, b }) => ({ y: tf.add(a, b) }), {
      inputs: { a: float(2), b: float(2) },
      engine,
    });
    const fixed = Float32Array.of(1, 2);
    for (let i = 0; i < 3000; i++) {
      const { y } = sum.run({ a: Float32Array.of(i, -i), b: fixed });
      assertEquals(y[0] === i + 1 && y[1] === 2 - i, true);
    }
  },
);

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

testEngines("calls leave no tensors behind", (engine) => {
  const compiled = compile(
    ({ x }) => ({ dx: tf.grad((x) => tf.sum(tf.square(x)))(x) }),
    { inputs: { x: float(2) }, engine },
  );
  const given = tf.tensor1d([1, 2]);
  assertNoLeak(() => compiled.run({ x: given }));
  given.dispose();
});

testEngines("the graph is that of the declared shapes", (engine) => {
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

Deno.test("both engines give the same numbers", () => {
  const fn = ({ x, w }: { x: tf.Tensor; w: tf.Tensor }) => {
    const loss = (w: tf.Tensor) =>
      tf.mean(tf.logSoftmax(tf.tanh(tf.matMul(x, w))));
    return { loss: loss(w), dw: tf.grad(loss)(w) };
  };
  const inputs = { x: float(8, 4), w: float(4, 3) };
  const data = (size: number) =>
    Float32Array.from({ length: size }, (_, i) => Math.sin(i));
  const given = { x: data(32), w: data(12) };
  const [onnx, eager] = ENGINES.map((engine) =>
    compile(fn, { inputs, engine }).run(given)
  );
  for (const name of ["loss", "dw"] as const) {
    onnx[name].forEach((it, i) =>
      assert(Math.abs(it - eager[name][i]) < 1e-6, `${name} ${i}`)
    );
  }
});
