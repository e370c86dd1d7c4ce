import { assert, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { selectBackend } from "../backends/select_backend.ts";
import type { TensorData } from "../graph/graph.ts";
import { float } from "../testdata/traced.ts";
import { compileStep } from "./compile.ts";
import { Arena, spaceFor } from "./_onnx_engine.ts";

Deno.test("arrays of an arena are aligned, all 0 and apart from each other", () => {
  fc.assert(fc.property(fc.array(fc.nat(100), { minLength: 1 }), (sizes) => {
    const space = sizes.reduce((sum, size) => sum + spaceFor(size), 0);
    const arena = Arena.of(space)!;
    assert(arena.size >= space);
    const arrays = sizes.map((size) => arena.take(size));
    assertEquals(arena.used, space);
    arrays.forEach((array, i) => {
      assertEquals(array.byteOffset % 64, 0);
      assertEquals([...array], new Array(sizes[i]).fill(0));
      array.fill(i + 1);
    });
    arrays.forEach((array, i) => assert(array.every((it) => it === i + 1)));
  }));
});

await selectBackend("cpu");

type Tensors = Record<string, tf.Tensor>;

/** Sizes from which operations become loops, in the middle and at the end. */
const LONG = 40_000, SHORT = 3000;

/** Operations on vectors that need a loop, something between, or both. */
const OPERATIONS: readonly ((a: tf.Tensor, b: tf.Tensor) => tf.Tensor)[] = [
  (a, b) => tf.add(a, tf.mul(b, 0.5)),
  (a, b) => tf.sub(tf.square(a), b),
  (a, b) => tf.div(a, tf.add(tf.abs(b), 1)),
  (a, b) => tf.add(tf.sqrt(tf.add(tf.abs(a), 1)), tf.neg(b)),
  (a, b) => tf.squaredDifference(a, b),
  (a, b) => tf.mul(a, tf.max(b)),
  (a) => tf.maximum(a, 0.25),
  (a, b) => tf.minimum(a, b),
  (a) => tf.reverse(a, 0),
  (a, b) => {
    const size = a.shape[0];
    const [first, second] = tf.split(tf.add(a, b), [7, size - 7]);
    return tf.concat([tf.reshape(second, [-1]), first]);
  },
];

/** Keeps numbers small. */
const bounded = (x: tf.Tensor) => tf.minimum(tf.maximum(x, -4), 4);

interface Step {
  readonly operation: number;
  readonly a: number;
  readonly b: number;
}

function stepOf(program: readonly Step[]) {
  return ({ u, v }: Tensors, { x, rate }: Tensors) => {
    const known = [u, v, tf.mul(u, rate), tf.add(v, x)];
    for (const { operation, a, b } of program) {
      const made = OPERATIONS[operation](
        known[known.length - 1 - a % known.length],
        known[b % known.length],
      );
      known.push(bounded(made));
    }
    const [last, before] = known.toReversed();
    const mean = tf.slice(last, 0, 5);
    return { state: { u: last, v: before }, mean, other: tf.add(last, u) };
  };
}

function statesOf(
  program: readonly Step[],
  { engine, size }: { engine: "onnx" | "eager"; size: number },
) {
  const vector = (seed: number) =>
    Float32Array.from({ length: size }, (_, i) => ((i * seed) % 31 - 15) / 8);
  const step = compileStep(stepOf(program) as never, {
    state: { u: tf.tensor1d(vector(3)), v: tf.tensor1d(vector(7)) },
    inputs: { x: float(size), rate: float() },
    engine,
  }) as unknown as {
    run(inputs: unknown): Record<string, TensorData>;
    read(): Record<string, { data: TensorData }>;
    close(): void;
  };
  const states = [0, 1, 2].map((round) => {
    const x = vector(5 + round);
    const results = structuredClone(step.run({ x, rate: 0.5 + round / 4 }));
    return { results, state: step.read() };
  });
  step.close();
  return states;
}

/** Rounding may differ: TensorFlow.js computes some operations in float64. */
function assertClose(onnx: States, eager: States): void {
  onnx.forEach(({ results, state }, i) => {
    const arrays = (it: States[number]) => [
      ...Object.values(it.results),
      ...Object.values(it.state).map(({ data }) => data),
    ];
    const wanted = arrays(eager[i]);
    arrays({ results, state }).forEach((array, k) => {
      const far = array.findIndex((it, at) =>
        !(Math.abs(it - wanted[k][at]) < 1e-3)
      );
      assertEquals(far, -1);
    });
  });
}

/** Sums are taken in another order. */
function assertNear(onnx: number[], eager: number[]): void {
  onnx.forEach((it, i) =>
    assertEquals(Math.abs(it - eager[i]) <= 1e-4 * Math.abs(eager[i]), true)
  );
}

type States = ReturnType<typeof statesOf>;

const programs = fc.array(
  fc.record({
    operation: fc.nat(OPERATIONS.length - 1),
    a: fc.nat(),
    b: fc.nat(),
  }),
  { minLength: 2, maxLength: 12 },
);

for (const size of [SHORT, LONG]) {
  Deno.test(`loops between graphs go through the states that eager steps do, vectors of ${size}`, () => {
    fc.assert(
      fc.property(programs, (program) => {
        const [onnx, eager] = (["onnx", "eager"] as const).map((engine) =>
          statesOf(program, { engine, size })
        );
        assertClose(onnx, eager);
      }),
      { numRuns: size === LONG ? 8 : 40 },
    );
  });
}

Deno.test("a state that is still read after its loop keeps both places", () => {
  const run = (engine: "onnx" | "eager") => {
    const step = compileStep(
      ({ w, m }: Tensors, { x }: Tensors) => {
        const next = tf.add(tf.mul(m, 0.5), tf.mul(tf.square(w), x));
        const moved = tf.sub(w, tf.mul(next, 0.125));
        // The new `m` needs the old `w` after the loop that makes the new one.
        const late = tf.exp(tf.mul(w, tf.mean(moved)));
        return {
          state: { w: moved, m: tf.div(late, 10) },
          change: tf.sum(tf.sub(moved, w)),
        };
      },
      {
        state: { w: tf.ones([LONG]), m: tf.zeros([LONG]) },
        inputs: { x: float() },
        engine,
      },
    );
    const changes = [0.25, 0.5, 0.125].map((x) => step.run({ x }).change[0]);
    const { w, m } = step.read();
    step.close();
    return [...changes, ...w.data.slice(0, 9), ...m.data.slice(-9)];
  };
  assertNear(run("onnx"), run("eager"));
});

Deno.test("a number that is returned may be the loop's too", () => {
  const run = (engine: "onnx" | "eager") => {
    const step = compileStep(
      ({ w, count }: Tensors, { x }: Tensors) => {
        const next = tf.add(count, 1);
        const rate = tf.div(tf.mean(x), tf.exp(next));
        const pull = tf.mul(tf.square(w), rate);
        const moved = tf.sub(w, tf.mul(tf.add(pull, tf.mul(w, next)), 0.125));
        return {
          state: { w: moved, count: next },
          rate,
          next: tf.add(next, 0),
        };
      },
      {
        state: { w: tf.ones([SHORT]), count: tf.scalar(0) },
        inputs: { x: float(4) },
        engine,
      },
    );
    const results = [1, 2, 3].flatMap((it) => {
      const { rate, next } = step.run({ x: new Float32Array(4).fill(it) });
      return [rate[0], next[0]];
    });
    const { w, count } = step.read();
    step.close();
    return [...results, ...w.data.slice(-9), ...count.data];
  };
  assertNear(run("onnx"), run("eager"));
});

Deno.test("other shapes of inputs share the memory of the state", () => {
  const run = (engine: "onnx" | "eager") => {
    const step = compileStep(
      ({ w, m }: Tensors, { x }: Tensors) => {
        const pull = tf.mul(tf.mean(x), tf.sum(tf.slice(w, 0, 3)));
        const next = tf.add(tf.mul(m, 0.5), tf.mul(tf.square(w), pull));
        const moved = tf.sub(w, tf.mul(next, 0.125));
        if (x.size === 2) { // Here the old state is needed to the end.
          const w1 = tf.mul(tf.reverse(w, 0), tf.mean(moved));
          return { state: { w: w1, m: moved }, sum: tf.sum(w1) };
        }
        return { state: { w: moved, m: next }, sum: tf.sum(moved) };
      },
      {
        state: { w: tf.ones([SHORT]), m: tf.zeros([SHORT]) },
        inputs: { x: float(4) },
        engine,
        onNotice: () => {},
      },
    );
    for (const size of [4, 8, 4, 2, 8]) {
      const x = new Float32Array(size).fill(0.25);
      step.run({ x: size === 4 ? x : { data: x, shape: [size] } });
    }
    const { w, m } = step.read();
    step.close();
    return [...w.data.slice(0, 9), ...m.data.slice(-9)];
  };
  assertNear(run("onnx"), run("eager"));
});
