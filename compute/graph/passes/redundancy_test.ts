import { assertEquals, assertStrictEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../../backends/select_backend.ts";
import { float, operationsOf, typed } from "../../testdata/traced.ts";
import { trace } from "../../tracing/trace.ts";
import type { DType, TensorType } from "../graph.ts";
import { removeAliases, shareCommonSubexpressions } from "./redundancy.ts";
import { eliminateDeadCode } from "./rewrite.ts";

await selectBackend("cpu");

function clean(fn: (x: tf.Tensor) => tf.Tensor, x: TensorType) {
  const graph = trace(({ x }) => ({ y: fn(x) }), { x });
  return eliminateDeadCode(removeAliases(graph));
}

const ALIASES: Record<string, (x: tf.Tensor) => tf.Tensor> = {
  clone: (x) => x.clone(),
  cast: (x) => tf.cast(x, "float32"),
  reshape: (x) => tf.reshape(x, [2, 3]),
  transpose: (x) => tf.transpose(x, [0, 1]),
  tile: (x) => tf.tile(x, [1, 1]),
  pad: (x) => tf.pad(x, [[0, 0], [0, 0]]),
  slice: (x) => tf.slice(x, [0, 0], [2, 3]),
  concat: (x) => tf.concat([x]),
  addN: (x) => tf.addN([x]),
  split: (x) => tf.split(x, 1)[0],
  "reshape there and back": (x) => tf.reshape(tf.reshape(x, [6]), [2, 3]),
  "transpose there and back": (x) => tf.transpose(tf.transpose(x)),
};

for (const [name, fn] of Object.entries(ALIASES)) {
  Deno.test(`${name} that changes nothing is dropped`, () => {
    const graph = clean(fn, float(2, 3));
    assertEquals(graph.nodes.length, 0);
    assertStrictEquals(graph.outputs[0].value, graph.inputs[0].value);
  });
}

Deno.test("what only looks like an alias is kept", () => {
  const kept = (fn: (x: tf.Tensor) => tf.Tensor) =>
    assertEquals(clean(fn, float(3, 3)).nodes.length > 0, true);
  kept((x) => tf.transpose(x));
  kept((x) => tf.reverse(x, 0));
  kept((x) => tf.stridedSlice(x, [2, 0], [-4, 3], [-1, 1]));
  kept((x) => tf.pad(x, [[1, 0], [0, 0]]));
  kept((x) => tf.softmax(x));
});

Deno.test("a chain of reshapes is one", () => {
  const graph = clean(
    (x) => tf.reshape(tf.reshape(tf.reshape(x, [6]), [3, 2]), [1, 6]),
    float(2, 3),
  );
  assertEquals(operationsOf(graph), ["Reshape"]);
  assertEquals(graph.outputs[0].value.shape, [1, 6]);
});

Deno.test("a chain of transpositions is one, in the right order", () => {
  const first = [1, 2, 0], second = [0, 2, 1];
  const graph = clean(
    (x) => tf.transpose(tf.transpose(x, first), second),
    float(2, 3, 5),
  );
  const x = tf.range(0, 30, 1).reshape([2, 3, 5]);
  const expected = tf.transpose(tf.transpose(x, first), second);
  const perm = graph.nodes[0].attributes.perm as number[];
  assertEquals(operationsOf(graph), ["Transpose"]);
  assertEquals(graph.outputs[0].value.shape, expected.shape);
  assertEquals(tf.transpose(x, perm).dataSync(), expected.dataSync());
});

/** The types that a chain of casts goes through after it is cleaned. */
function casts(from: DType, ...to: ("float32" | "int32" | "bool")[]): string[] {
  const graph = clean(
    (x) => to.reduce((it, dtype) => tf.cast(it, dtype), x),
    typed(from, 2),
  );
  return graph.nodes.map(({ outputs: [{ dtype }] }) => dtype);
}

Deno.test("casts that lose digits are kept", () => {
  assertEquals(casts("float32", "int32", "float32"), ["int32", "float32"]);
  assertEquals(casts("float32", "bool", "float32"), ["bool", "float32"]);
  assertEquals(casts("int32", "bool", "int32"), ["bool", "int32"]);
  assertEquals(casts("int32", "float32", "int32"), ["float32", "int32"]);
});

Deno.test("casts of bytes and booleans lose nothing", () => {
  assertEquals(casts("uint8", "float32"), ["float32"]);
  assertEquals(casts("uint8", "float32", "int32"), ["int32"]);
  assertEquals(casts("bool", "int32", "float32"), ["float32"]);
  assertEquals(casts("uint8", "bool", "float32"), ["int32", "bool", "float32"]);
});

function shared(fn: (x: tf.Tensor) => Record<string, tf.Tensor>) {
  const graph = trace(({ x }) => fn(x), { x: float(2, 3) });
  return shareCommonSubexpressions(graph);
}

/** Whether two tensors become one. */
function areOne(fn: (x: tf.Tensor) => [tf.Tensor, tf.Tensor]): boolean {
  const { outputs: [a, b] } = shared((x) => {
    const [a, b] = fn(x);
    return { a, b };
  });
  return a.value === b.value;
}

Deno.test("equal operations on equal values are one, also chains of them", () => {
  const graph = shared((x) => ({
    a: tf.exp(tf.sum(x, 1)),
    b: tf.exp(tf.sum(x, 1)),
  }));
  assertEquals(operationsOf(graph), ["Sum", "Exp"]);
});

Deno.test("other attributes keep operations apart", () => {
  const apart = (fn: (x: tf.Tensor) => [tf.Tensor, tf.Tensor]) =>
    assertEquals(areOne(fn), false);
  apart((x) => [tf.sum(x, 0), tf.sum(x, 1)]);
  apart((x) => [tf.sum(x, 1, true), tf.sum(x, 1)]);
  apart((x) => [tf.cast(x, "int32"), tf.cast(x, "bool")]);
  apart((x) => [tf.sub(x, 1), tf.sub(1, x)]);
  const pad = (x: tf.Tensor, by: number) => tf.pad(x, [[0, 1], [0, 0]], by);
  apart((x) => [pad(x, Infinity), pad(x, -Infinity)]);
  apart((x) => [pad(x, 0), pad(x, -0)]);
  apart((x) => [pad(x, NaN), pad(x, Infinity)]);
});

Deno.test("equal constants are one, unless type, shape or sign differ", () => {
  assertEquals(
    areOne(() => [tf.tensor1d([1, NaN]), tf.tensor1d([1, NaN])]),
    true,
  );
  const apart = (a: () => tf.Tensor, b: () => tf.Tensor) =>
    assertEquals(areOne(() => [a(), b()]), false);
  apart(() => tf.tensor1d([1, 0]), () => tf.tensor1d([1, 0], "int32"));
  apart(() => tf.tensor1d([1, 0], "bool"), () => tf.tensor1d([1, 0], "int32"));
  apart(() => tf.tensor1d([1, 0]), () => tf.tensor2d([[1, 0]]));
  apart(() => tf.tensor1d([1, 0]), () => tf.tensor1d([1, -0]));
  apart(() => tf.fill([2], 0), () => tf.fill([2], -0));
});

Deno.test("all outputs of an operation are shared", () => {
  const graph = shared((x) => {
    const [a, b] = tf.split(x, [1, 2], 1);
    const [c, d] = tf.split(x, [1, 2], 1);
    return { a, b, c, d };
  });
  assertEquals(operationsOf(graph), ["Split"]);
  const [a, b, c, d] = graph.outputs.map(({ value }) => value);
  assertEquals([a === c, b === d, a === b], [true, true, false]);
});
