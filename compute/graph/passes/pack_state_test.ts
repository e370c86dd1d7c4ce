import { assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../../backends/select_backend.ts";
import { float, operationsOf } from "../../testdata/traced.ts";
import { trace } from "../../tracing/trace.ts";
import type { Graph, NamedValue } from "../graph.ts";
import { packState } from "./pack_state.ts";

await selectBackend("cpu");

const inputs = { a: float(2, 3), b: float(4), x: float(10) };
const state = new Set(["a", "b"]);

type Given = Record<keyof typeof inputs, tf.Tensor>;

const join = (...parts: tf.Tensor[]) =>
  tf.concat(parts.map((it) => tf.reshape(it, [-1])));

function split(flat: tf.Tensor): { a: tf.Tensor; b: tf.Tensor } {
  const [a, b] = tf.split(flat, [6, 4]);
  return { a: tf.reshape(a, [2, 3]), b };
}

function packed(fn: (given: Given) => Record<string, tf.Tensor>) {
  return packState(trace((given) => fn(given), inputs), state);
}

const names = (list: readonly NamedValue[]) => list.map(({ name }) => name);
const portsOf = ({ inputs, outputs }: Graph) => [names(inputs), names(outputs)];

Deno.test("a group that is joined and split is one flat vector", () => {
  const { graph, runs } = packed(({ a, b, x }) => split(tf.add(join(a, b), x)));
  assertEquals(runs, [{ name: "flat.0", members: ["a", "b"], output: true }]);
  assertEquals(operationsOf(graph), ["Add"]);
  assertEquals(portsOf(graph), [["a", "b", "x", "flat.0"], ["flat.0"]]);
});

Deno.test("a group that is only joined is one flat input", () => {
  const { graph, runs } = packed(({ a, b, x }) => ({
    a: tf.neg(a),
    b: tf.neg(b),
    y: tf.sum(tf.mul(join(a, b), x)),
  }));
  assertEquals(runs[0].output, false);
  assertEquals(portsOf(graph), [["a", "b", "x", "flat.0"], ["a", "b", "y"]]);
  assertEquals(operationsOf(graph), ["Neg", "Neg", "Multiply", "Sum"]);
});

Deno.test("what the state is not all of is left", () => {
  const left = (fn: (given: Given) => Record<string, tf.Tensor>) =>
    assertEquals(packed(fn).runs, []);
  const same = ({ a, b }: Given) => ({ a, b });
  left((it) => ({ ...same(it), y: join(it.a, it.x) }));
  left((it) => ({ ...same(it), y: join(it.a, it.a, it.b) }));
  left((it) => ({ ...same(it), y: join(it.a, tf.exp(it.b)) }));
  left(({ a, b }) => ({ a, b, y: tf.concat([a, tf.reshape(b, [2, 2])], 1) }));
});

Deno.test("each tensor lies in one group", () => {
  const { runs } = packed(({ a, b, x }) => ({
    ...split(tf.add(join(a, b), x)),
    other: join(b, a),
  }));
  assertEquals(runs.map(({ members }) => members), [["a", "b"]]);
});

Deno.test("parts in another order, or of a matrix, are written one by one", () => {
  const swapped = packState(
    trace(({ a, b }) => {
      const [first, second] = tf.split(join(a, b), 2);
      return { a: second, b: first };
    }, { a: float(4), b: float(4) }),
    state,
  );
  assertEquals(swapped.runs[0].output, false);
  const columns = packState(
    trace(({ a, b }) => {
      const [left, right] = tf.split(tf.reshape(join(a, b), [2, 4]), 2, 1);
      return { a: tf.reshape(left, [4]), b: tf.reshape(right, [4]) };
    }, { a: float(4), b: float(4) }),
    state,
  );
  assertEquals(columns.runs[0].output, false);
});

Deno.test("the flat vector's name is free", () => {
  const { runs } = packState(
    trace(({ a, b, x }) => ({ ...split(join(a, b)), flat: { 0: x } }), inputs),
    state,
  );
  assertEquals(runs[0].name, "flat'.0");
});

Deno.test("groups that are known keep their names, others are left", () => {
  const { graph: first, runs: known } = packed(({ a, b, x }) =>
    split(tf.add(join(a, b), x))
  );
  assertEquals(portsOf(first)[1], ["flat.0"]);
  const later = (fn: (given: Given) => Record<string, tf.Tensor>) =>
    packState(trace((given) => fn(given), inputs), state, known);
  const same = later(({ a, b, x }) => split(tf.mul(join(a, b), x)));
  assertEquals(same.runs, known);
  const swapped = later(({ a, b }) => ({ a, b, y: join(b, a) }));
  assertEquals(swapped.runs, []);
  assertEquals(operationsOf(swapped.graph).includes("Concat"), true);
});
