import { assertEquals, assertStrictEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../backends/select_backend.ts";
import type { TensorData } from "../graph/graph.ts";
import { float } from "../testdata/traced.ts";
import { testEngines } from "../testdata/engines.ts";
import { compile, compileStep } from "./compile.ts";

await selectBackend("cpu");

function testXla(name: string, test: () => void): void {
  testEngines(name, test, ["xla"]);
}

testXla("the state is one vector that is written in place", () => {
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

testXla("several steps write the same state in turns", () => {
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

testXla("the larger of NaN and a number is NaN", () => {
  const fn = compile(({ x }) => ({ y: tf.relu(x), z: tf.max(x) }), {
    inputs: { x: float(2) },
    engine: "xla",
  });
  const { y, z } = fn.run({ x: Float32Array.of(1, NaN) });
  assertEquals([...y, ...z], [1, NaN, NaN]);
});

testXla("a run repeats bit for bit", () => {
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

testXla("equal functions share a program", () => {
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
