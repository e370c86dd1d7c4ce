import { assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../backends/select_backend.ts";
import type { TensorData, TensorType } from "../graph/graph.ts";
import { float } from "../testdata/traced.ts";
import { compileStep } from "./compile.ts";

await selectBackend("cpu");

type Tensors = Record<string, tf.Tensor>;
type Step = (
  state: Tensors,
  inputs: Tensors,
) => { state: Tensors; [other: string]: unknown };

const start = () => ({
  a: tf.tensor2d([[1, 2], [3, 4]]),
  b: tf.tensor1d([5, 6, 7]),
  c: tf.scalar(8),
});

const flat = (...parts: tf.Tensor[]) =>
  tf.concat(parts.map((it) => tf.reshape(it, [-1])));

/** The state after each of some steps, and what the step returned beside it. */
function statesOf(
  fn: Step,
  { engine, inputs, given }: {
    engine: "onnx" | "eager";
    inputs: Record<string, TensorType>;
    given: readonly Record<string, never>[];
  },
) {
  const step = compileStep(
    fn as never,
    { state: start(), inputs, engine, onNotice: () => {} },
  ) as unknown as {
    run(inputs: unknown): Record<string, TensorData>;
    read(): Record<string, { data: TensorData }>;
    close(): void;
  };
  const states = given.map((it) => {
    const results = structuredClone(step.run(it));
    return { results, state: step.read() };
  });
  step.close();
  return states;
}

/** Asserts that both engines go through the same states, exactly. */
function assertSameStates(
  fn: Step,
  inputs: Record<string, TensorType> = {},
  given: readonly unknown[] = [{}, {}, {}],
): void {
  const [onnx, eager] = (["onnx", "eager"] as const).map((engine) =>
    statesOf(fn, { engine, inputs, given: given as Record<string, never>[] })
  );
  assertEquals(onnx, eager);
}

const doubled = (state: Tensors, names: string[]): Tensors => {
  const sizes = names.map((name) => state[name].size);
  const parts = tf.split(
    tf.mul(flat(...names.map((name) => state[name])), 2),
    sizes,
  );
  return Object.fromEntries(
    names.map((name, i) => [name, tf.reshape(parts[i], state[name].shape)]),
  );
};

Deno.test("a whole state as one vector", () => {
  assertSameStates((state) => ({ state: doubled(state, ["a", "b", "c"]) }));
});

Deno.test("a part of a state as one vector, in any order", () => {
  assertSameStates((state) => ({
    state: { b: tf.add(state.b, 1), ...doubled(state, ["c", "a"]) },
  }));
});

Deno.test("a vector that is only joined, and one that is only split", () => {
  assertSameStates(({ a, b, c }) => ({
    state: { a: tf.neg(a), b, c: tf.add(c, tf.sum(flat(a, b))) },
    joined: flat(a, b),
  }));
  assertSameStates(({ a, b }) => {
    const [first, second] = tf.split(tf.mul(tf.ones([7]), tf.sum(b)), [4, 3]);
    return {
      state: { a: tf.reshape(first, [2, 2]), b: second, c: tf.mean(a) },
    };
  });
});

Deno.test("two groups, and tensors that change places", () => {
  assertSameStates((state) => ({
    state: { ...doubled(state, ["a", "c"]), b: flat(state.c, tf.ones([2])) },
    again: flat(state.b, state.a),
  }));
  assertSameStates(({ a, b, c }) => {
    const all = flat(c, a, b);
    return {
      state: {
        a: tf.reshape(tf.slice(all, 2, 4), [2, 2]),
        b: tf.slice(all, 0, 3),
        c: tf.reshape(tf.slice(all, 7, 1), []),
      },
    };
  });
});

Deno.test("a result may have any name", () => {
  assertSameStates((state) => ({
    state: doubled(state, ["a", "b", "c"]),
    flat: { 0: state.a },
    "state'": state.b,
    inputs: state.c,
  }));
});

Deno.test("other shapes whose program joins otherwise move the same state", () => {
  const fn: Step = (state, { x }) =>
    x.size === 1
      ? { state: doubled(state, ["a", "b", "c"]) }
      : { state: { ...doubled(state, ["c", "b"]), a: tf.neg(state.a) } };
  const short = { x: 0 };
  const long = { x: { data: new Float32Array(2), shape: [2] } };
  assertSameStates(fn, { x: float(1) }, [short, long, short, long, long]);
});
