import { assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../../backends/select_backend.ts";
import { float, operationsOf } from "../../testdata/traced.ts";
import { trace } from "../../tracing/trace.ts";
import { shareCommonSubexpressions } from "./share_common_subexpressions.ts";

await selectBackend("cpu");

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
