import {
  assertAlmostEquals,
  assertEquals,
  assertStrictEquals,
} from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../backends/select_backend.ts";
import type { TensorData } from "../graph/graph.ts";
import { float } from "../testdata/traced.ts";
import { testEngines } from "../testdata/engines.ts";
import { adam, type OptimizerState } from "../optimizers.ts";
import type { Params } from "../params.ts";
import { MOST_WRITTEN } from "../stablehlo/program_builder.ts";
import { scan } from "../tracing/scan.ts";
import { compile, compileStep } from "./compile.ts";

await selectBackend("cpu");

function test(name: string, test: () => void): void {
  testEngines(name, test, ["xla"]);
}

test("the state is one vector that is written in place", () => {
  const step = compileStep(({ w, b }) => ({
    state: { w: tf.add(w, 1), b: tf.add(b, 1) },
  }), {
    state: { w: tf.zeros([2, 3]), b: tf.zeros([5]) },
    inputs: {},
    engine: "xla",
  });
  const { w, b } = step.state as Record<"w" | "b", TensorData>;
  assertStrictEquals(w.buffer, b.buffer);
  assertEquals(b.byteOffset, w.byteOffset + w.byteLength);
  for (let i = 0; i < 3; i++) step.run({});
  // The arrays that were handed out before have the new state.
  assertEquals([w[0], b[4]], [3, 3]);
  assertStrictEquals((step.state as { w: TensorData }).w, w);
});

test("a large run of tensors is a vector of its own", () => {
  const optimizer = adam();
  const params = { w: tf.ones([40, 30]), b: tf.ones([30]) };
  const step = compileStep(
    (held: { params: Params; slots: OptimizerState; kept: tf.Tensor }) => {
      const { params, state } = optimizer.apply(held.params, held.params, {
        state: held.slots,
        learningRate: tf.scalar(0.25),
      });
      return { state: { params, slots: state, kept: held.kept } };
    },
    {
      state: { params, slots: optimizer.init(params), kept: tf.ones([5]) },
      inputs: {},
      engine: "xla",
    },
  );
  const { params: { w, b }, slots } = step.state as unknown as {
    params: Record<"w" | "b", TensorData>;
    slots: Record<string, TensorData>;
  };
  assertStrictEquals(w.buffer, b.buffer);
  assertStrictEquals(slots["m/w"].buffer, slots["m/b"].buffer);
  const buffers = [w, slots["m/w"], slots["v/w"], slots.step];
  assertEquals(new Set(buffers.map(({ buffer }) => buffer)).size, 4);
  for (let i = 0; i < 2; i++) step.run({});
  assertEquals([w, b].flatMap((it) => [...it]).every((it) => it < 1), true);
  assertEquals([slots.step[0], step.read().kept.data[4]], [2, 1]);
});

test("large tensors of an optimizer are vectors of their own", () => {
  const optimizer = adam();
  const start = () => {
    const params = { w: tf.ones([160, 120]), a: tf.ones([3]), b: tf.ones([4]) };
    return { params, slots: optimizer.init(params) };
  };
  const [step, expected] = (["xla", "eager"] as const).map((engine) =>
    compileStep((held: { params: Params; slots: OptimizerState }) => {
      const { params, state } = optimizer.apply(held.params, held.params, {
        state: held.slots,
        learningRate: tf.scalar(0.25),
      });
      return { state: { params, slots: state } };
    }, { state: start(), inputs: {}, engine })
  );
  for (let i = 0; i < 3; i++) {
    step.run({});
    expected.run({});
  }
  const { w, a, b } = step.state.params as unknown as Record<
    "w" | "a" | "b",
    TensorData
  >;
  assertEquals(w.byteLength + 64, w.buffer.byteLength);
  assertStrictEquals(a.buffer, b.buffer);
  const [made, wanted] = [step, expected].map((it) => it.read().params);
  for (const name of ["w", "a", "b"]) {
    assertAlmostEquals(made[name].data[2], wanted[name].data[2], 1e-6);
  }
});

test("several steps write the same state in turns", () => {
  const step = compileStep(
    ({ n, kept }) => ({ state: { n: tf.add(n, kept), kept } }),
    {
      state: { n: tf.scalar(0), kept: tf.scalar(1) },
      inputs: {},
      engine: "xla",
    },
  );
  const doubled = step.also(({ n, kept }) => ({
    state: { n: tf.mul(n, 2), kept: tf.add(kept, 1) },
    before: n,
  }));
  const seen: number[] = [];
  for (const it of [step, doubled, doubled, step, step, doubled]) {
    const { before } = it.run({}) as { before?: TensorData };
    if (before !== undefined) seen.push(before[0]);
  }
  assertEquals(seen, [1, 2, 10]);
  assertEquals(step.read().n.data[0], 20);
  assertEquals(step.read().kept.data[0], 4);
});

test("the larger of NaN and a number is NaN", () => {
  const fn = compile(({ x }) => ({ y: tf.relu(x), z: tf.max(x) }), {
    inputs: { x: float(2) },
    engine: "xla",
  });
  const { y, z } = fn.run({ x: Float32Array.of(1, NaN) });
  assertEquals([...y, ...z], [1, NaN, NaN]);
});

test("a run repeats bit for bit", () => {
  const make = () => {
    const step = compileStep(({ w }, { x }) => {
      const loss = (w: tf.Tensor) =>
        tf.mean(
          tf.square(tf.tanh(tf.matMul(x as tf.Tensor2D, w as tf.Tensor2D))),
        );
      return { state: { w: tf.sub(w, tf.grad(loss)(w)) } };
    }, {
      state: { w: tf.ones([32, 16]) },
      inputs: { x: float(64, 32) },
      engine: "xla",
    });
    for (let i = 0; i < 5; i++) {
      step.run({
        x: Float32Array.from({ length: 2048 }, (_, k) => Math.sin(k + i)),
      });
    }
    return step.read().w.data;
  };
  assertEquals(make(), make());
});

test("equal functions share a program", () => {
  const make = () =>
    compile(({ x }) => ({ y: tf.softmax(tf.sin(x)) }), {
      inputs: { x: float(7, 5) },
      engine: "xla",
    });
  const [a, b] = [make(), make()];
  const x = new Float32Array(35).fill(1);
  const y = a.run({ x }).y.slice();
  assertEquals(b.run({ x }).y, y);
});

test("constants are numbers that fill, or inputs where they are large", () => {
  const size = MOST_WRITTEN + 1;
  const table = tf.tensor1d(
    Float32Array.from({ length: size }, (_, i) => i % 7),
  );
  const flags = tf.tensor1d(new Uint8Array(size).fill(1, 3), "bool");
  const same = tf.tensor2d(new Float32Array(2 * size).fill(-2), [2, size]);
  const fn = compile(({ x }: { x: tf.Tensor }) => {
    const { state } = scan({ sum: x }, {
      length: 3,
      rows: {},
      body: ({ sum }) => {
        const row = tf.where(flags, table, tf.zerosLike(table));
        return { state: { sum: tf.add(sum, tf.sum(row)) }, results: {} };
      },
    });
    return { sum: tf.add(state.sum, tf.sum(tf.mul(same, x))), table };
  }, { inputs: { x: float() }, engine: "xla" });
  const { sum, table: back } = fn.run({ x: Float32Array.of(1) });
  const row = [...table.dataSync()].reduce((a, b) => a + b, 0) - 3;
  assertAlmostEquals(sum[0], 1 + 3 * row - 4 * size, 64);
  assertEquals(back, table.dataSync());
});
