import { assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../backend.ts";
import { optimize } from "../graph/optimize.ts";
import { shapes } from "../testdata/arbitrary_shapes.ts";
import { given, testCompiled } from "../testdata/compiled_agrees.ts";
import { float, operationsOf } from "../testdata/traced.ts";
import { trace } from "../tracing/trace.ts";

await selectBackend("cpu");

testCompiled("the gradient of relu", shapes(), (shape) => ({
  fn: (x) => tf.relu(x),
  inputs: [given(shape)],
  gradients: true,
}));

testCompiled("at 0 it is 0", shapes(), (shape) => ({
  fn: (x) => tf.relu(x),
  inputs: [given(shape, { of: Math.trunc })],
  gradients: true,
}));

Deno.test("it is one operation of what relu makes", () => {
  const gradient = tf.valueAndGrad((x: tf.Tensor) => tf.relu(x));
  const graph = optimize(trace(
    ({ x, dy }) => ({ ...gradient(x, dy) }),
    { x: float(2, 3), dy: float(2, 3) },
  ));
  assertEquals(operationsOf(graph), ["Relu", "ReluGrad"]);
});
