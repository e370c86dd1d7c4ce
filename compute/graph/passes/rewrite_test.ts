import { assertEquals, assertStrictEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../../backends/select_backend.ts";
import { float, operationsOf } from "../../testdata/traced.ts";
import { trace } from "../../tracing/trace.ts";
import { eliminateDeadCode } from "./rewrite.ts";

await selectBackend("cpu");

Deno.test("what no output depends on is dropped, with all before it", () => {
  const graph = eliminateDeadCode(trace(({ x }) => {
    tf.sin(tf.cos(x));
    return { y: tf.exp(x) };
  }, { x: float(2) }));
  assertEquals(operationsOf(graph), ["Exp"]);
});

Deno.test("inputs stay, also those that nothing takes", () => {
  const graph = eliminateDeadCode(
    trace(({ x }) => ({ x }), { unused: float(2), x: float(3) }),
  );
  assertEquals(graph.inputs.map(({ name }) => name), ["unused", "x"]);
  assertStrictEquals(graph.outputs[0].value, graph.inputs[1].value);
});

Deno.test("an operation stays if one of its outputs is taken", () => {
  const graph = eliminateDeadCode(trace(({ x }) => {
    const [first] = tf.split(x, 2);
    return { first };
  }, { x: float(4) }));
  assertEquals(operationsOf(graph), ["Split"]);
  assertEquals(graph.nodes[0].outputs.length, 2);
});
