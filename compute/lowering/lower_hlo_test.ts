import { assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../backends/select_backend.ts";
import { float, typed } from "../testdata/traced.ts";
import { trace } from "../tracing/trace.ts";
import { readSignature } from "../xla/signature.ts";
import { lowerToHlo } from "./lower_hlo.ts";

await selectBackend("cpu");

Deno.test("inputs that nothing takes are left out", () => {
  const graph = trace(({ b }) => ({ y: tf.add(b, 1), b }), {
    a: float(2),
    b: float(3),
  });
  const { text, inputs, outputs } = lowerToHlo(graph);
  assertEquals([inputs, outputs], [[1], [[0], [1]]]);
  assertEquals(readSignature(text), {
    inputs: [{ dtype: "f32", shape: [3] }],
    outputs: [{ dtype: "f32", shape: [3] }, { dtype: "f32", shape: [3] }],
  });
});

Deno.test("numbers that are returned are one vector", () => {
  const graph = trace(({ x }) => ({
    sum: tf.sum(x),
    x,
    count: tf.cast(tf.max(x), "int32"),
    mean: tf.mean(x),
  }), { x: float(3) });
  const { text, outputs } = lowerToHlo(graph);
  assertEquals(outputs, [[0, 3], [1], [2]]);
  assertEquals(readSignature(text).outputs, [
    { dtype: "f32", shape: [2] },
    { dtype: "f32", shape: [3] },
    { dtype: "i32", shape: [] },
  ]);
});

Deno.test("booleans are bytes outside", () => {
  const graph = trace(({ x }) => ({ y: tf.logicalNot(x) }), {
    x: typed("bool", 2),
  });
  assertEquals(readSignature(lowerToHlo(graph).text), {
    inputs: [{ dtype: "ui8", shape: [2] }],
    outputs: [{ dtype: "ui8", shape: [2] }],
  });
});

Deno.test("a state is one vector that is written in place", () => {
  const graph = trace(({ state: { w, b }, x }) => ({
    state: { w: tf.add(w, x), b: tf.mul(b, 2) },
    sum: tf.sum(w),
  }), { state: { w: float(2, 3), b: float(4) }, x: float() });
  const { text, inputs, outputs } = lowerToHlo(graph, [
    { dtype: "float32", members: ["state.w", "state.b"] },
  ]);
  assertEquals([inputs, outputs], [[2], [[2]]]);
  assertEquals(readSignature(text), {
    inputs: [
      { dtype: "f32", shape: [10], aliases: 0 },
      { dtype: "f32", shape: [] },
    ],
    outputs: [{ dtype: "f32", shape: [10] }, { dtype: "f32", shape: [] }],
  });
});

Deno.test("a vector that a program only reads is no output", () => {
  const graph = trace(({ state: { w, kept } }) => ({
    state: { w: tf.mul(w, kept), kept },
  }), { state: { w: float(2), kept: float(2) } });
  const { text, outputs } = lowerToHlo(graph, [
    { dtype: "float32", members: ["state.kept"], isFixed: true },
    { dtype: "float32", members: ["state.w"] },
  ]);
  assertEquals(outputs, []);
  assertEquals(readSignature(text), {
    inputs: [
      { dtype: "f32", shape: [2] },
      { dtype: "f32", shape: [2], aliases: 0 },
    ],
    outputs: [{ dtype: "f32", shape: [2] }],
  });
});
