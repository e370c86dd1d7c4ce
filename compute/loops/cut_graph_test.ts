import { assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../backends/select_backend.ts";
import { optimize } from "../graph/passes/optimize.ts";
import { adam } from "../optimizers.ts";
import { float } from "../testdata/traced.ts";
import { trace, type TypeTree } from "../tracing/trace.ts";
import { findInPlace, findStages, type Staged } from "./cut_graph.ts";

await selectBackend("cpu");

type Tensors = Record<string, tf.Tensor>;

/** The stages of a function; what is named `x` is no matter for loops. */
function stagesOf(
  fn: (given: Tensors) => Record<string, tf.Tensor>,
  inputs: TypeTree,
): Staged {
  const graph = optimize(trace((given) => fn(given as Tensors), inputs));
  const resident = [...graph.inputs, ...graph.outputs]
    .map(({ name }) => name).filter((name) => name !== "x");
  return findStages(graph, new Set(resident));
}

/** Each stage in a few words: a loop's size, a graph's operations. */
const described = ({ stages }: Staged) =>
  stages.map((stage) => {
    if (stage.kind === "loop") return `loop of ${stage.loop.size}`;
    const nodes = stage.kind === "graph" ? stage.graph.nodes : stage.nodes;
    const names = nodes.map(({ op }) => op).filter((op) => op !== "Constant");
    return (stage.kind === "scalars" ? "scalars: " : "") + names.join(" ");
  });

const moved = ({ a, b }: Tensors) =>
  tf.sub(a, tf.div(tf.mul(b, 0.9), tf.add(tf.sqrt(tf.square(b)), 1e-8)));

Deno.test("operations on long vectors are a loop", () => {
  const staged = stagesOf((it) => ({ y: moved(it) }), {
    a: float(5000),
    b: float(5000),
  });
  assertEquals(described(staged), ["loop of 5000"]);
  assertEquals(staged.crossing.size, 0);
});

Deno.test("short vectors, and few operations, are no loop", () => {
  const short = { a: float(50), b: float(50) };
  assertEquals(stagesOf((it) => ({ y: moved(it) }), short).stages.length, 1);
  const long = { a: float(5000), b: float(5000) };
  const sum = stagesOf(({ a, b }) => ({ y: tf.add(a, b) }), long);
  assertEquals(described(sum), ["Add"]);
});

Deno.test("what a caller gives, loops cannot read: it is computed before", () => {
  const staged = stagesOf(
    ({ a, b, x }) => ({ y: moved({ a, b: tf.add(b, tf.neg(x)) }) }),
    { a: float(5000), b: float(5000), x: float(5000) },
  );
  assertEquals(described(staged), ["Neg", "loop of 5000"]);
});

Deno.test("what a caller takes, loops cannot write", () => {
  const staged = stagesOf((it) => ({ x: moved(it) }), {
    a: float(500_000),
    b: float(500_000),
  });
  assertEquals(described(staged), ["loop of 500000", "Sub"]);
});

Deno.test("a number that the caller gives is the loop's own matter", () => {
  const staged = stagesOf(
    ({ a, b, x }) => ({ y: moved({ a, b: tf.sub(x, b) }) }),
    { a: float(5000), b: float(5000), x: float() },
  );
  assertEquals(described(staged), ["loop of 5000"]);
});

Deno.test("an optimizer in the middle: gradients and new parameters lie in place", () => {
  const optimizer = adam();
  const fn = (given: Tensors) => {
    const { w, v } = given;
    const loss = (w: tf.Tensor, v: tf.Tensor) =>
      tf.sum(tf.square(tf.matMul(tf.matMul(given.x, w), v)));
    const [dw, dv] = tf.grads(loss)([w, v]);
    const slots = Object.fromEntries(
      ["m/w", "m/v", "v/w", "v/v", "step"].map((name) => [name, given[name]]),
    );
    const next = optimizer.apply({ w, v }, { w: dw, v: dv }, {
      state: slots,
      learningRate: tf.scalar(0.1),
    });
    return { loss: loss(next.params.w, next.params.v), w: next.params.w };
  };
  const [w, v] = [float(300, 200), float(200, 100)];
  const staged = stagesOf(fn, {
    ...{ w, v, "m/w": w, "m/v": v, "v/w": w, "v/v": v, step: float() },
    x: float(8, 300),
  });
  const [first, before, loop, after, ...rest] = described(staged);
  // The number of the step, and the corrections that follow from it.
  assertEquals(first.startsWith("scalars: Add Multiply Expm1"), true);
  assertEquals(loop, "loop of 80000");
  assertEquals(rest, []);
  // Three slots of parameters are joined for the loop, but not the gradients.
  assertEquals(before.split(" ").filter((op) => op === "Concat").length, 3);
  assertEquals(after.includes("Split"), false);
  assertEquals(staged.joined.length, 2);
});

Deno.test("operations on single numbers come first or last where they can", () => {
  const staged = stagesOf(({ a, b, step }) => {
    const next = tf.add(step, 1);
    const mean = tf.mean(tf.mul(a, tf.exp(next)));
    return { step: next, loss: tf.mul(tf.sqrt(mean), tf.sum(b)) };
  }, { a: float(8), b: float(4), step: float() });
  assertEquals(described(staged), [
    "scalars: Add Exp",
    "Multiply Mean Sum",
    "scalars: Sqrt Multiply",
  ]);
  // One in the middle stays where it is.
  const middle = stagesOf(
    ({ a }) => ({ y: tf.mul(a, tf.sqrt(tf.sum(a))) }),
    { a: float(8) },
  );
  assertEquals(described(middle), ["Sum Sqrt Multiply"]);
});

Deno.test("a loop in the middle must be worth another run of a graph", () => {
  const fn = (it: Tensors) => ({ y: tf.sum(moved(it)) });
  const inputs = (size: number) => ({ a: float(size), b: float(size) });
  assertEquals(described(stagesOf(fn, inputs(2000))).length, 1);
  assertEquals(described(stagesOf(fn, inputs(200_000))), [
    "loop of 200000",
    "Sum",
  ]);
});

const SIZE = 500_000;
const UNITS = ["w", "m"].map((name) => ({ name, members: [name] }));

function inPlace(fn: (given: Tensors) => Record<string, tf.Tensor>): string[] {
  const vector = float(SIZE);
  const graph = trace((given) => fn(given as Tensors), {
    w: vector,
    m: vector,
  });
  const staged = findStages(graph, new Set(["w", "m"]));
  return [...findInPlace(graph, { staged, units: UNITS })];
}

const descended = ({ w, m }: Tensors) =>
  tf.sub(w, tf.div(tf.mul(m, 0.9), tf.add(tf.sqrt(tf.square(m)), 1e-8)));

Deno.test("what a loop makes of itself is written over itself", () => {
  assertEquals(inPlace((it) => ({ w: descended(it), m: tf.mul(it.m, 0.5) })), [
    "w",
    "m",
  ]);
});

Deno.test("what is read later on is not written over", () => {
  const late = inPlace((it) => {
    const w = descended(it);
    return { w, m: tf.exp(tf.mul(it.w, tf.sum(w))) };
  });
  assertEquals(late, []);
});

Deno.test("what is read before may be written over", () => {
  const early = inPlace((it) => {
    const w = descended({ w: it.w, m: tf.mul(it.m, tf.sum(tf.exp(it.w))) });
    return { w, m: tf.exp(it.m) };
  });
  assertEquals(early, ["w"]);
});

Deno.test("what a loop makes of something else keeps its place", () => {
  // The new `m` is the old `w`, which is copied before the loop.
  assertEquals(inPlace((it) => ({ w: descended(it), m: it.w.clone() })), ["w"]);
});
