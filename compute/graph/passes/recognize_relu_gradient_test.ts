import { assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../../backend.ts";
import { float, operationsOf } from "../../testdata/traced.ts";
import { trace } from "../../tracing/trace.ts";
import { eliminateDeadCode } from "./eliminate_dead_code.ts";
import { recognizeReluGradient } from "./recognize_relu_gradient.ts";

await selectBackend("cpu");

function recognized(
  fn: (x: tf.Tensor, dy: tf.Tensor) => Record<string, tf.Tensor>,
  shape = [2, 3],
) {
  const inputs = { x: float(2, 3), dy: float(...shape) };
  const graph = trace(({ x, dy }) => fn(x, dy), inputs);
  return eliminateDeadCode(recognizeReluGradient(graph));
}

Deno.test("a step of relu's input or output is its gradient", () => {
  const ofInput = recognized((x, dy) => ({
    y: tf.relu(x),
    dx: tf.mul(dy, tf.step(x)),
  }));
  const ofOutput = recognized((x, dy) => {
    const y = tf.relu(x);
    return { y, dx: tf.mul(tf.step(y), dy) };
  });
  for (const graph of [ofInput, ofOutput]) {
    assertEquals(operationsOf(graph), ["Relu", "ReluGrad"]);
    const [relu, gradient] = graph.nodes;
    assertEquals(gradient.inputs[0], graph.inputs[1].value);
    assertEquals(gradient.inputs[1], relu.outputs[0]);
  }
});

Deno.test("other steps stay", () => {
  const kept = (
    fn: (x: tf.Tensor, dy: tf.Tensor) => Record<string, tf.Tensor>,
    shape?: number[],
  ) => {
    const operations = operationsOf(recognized(fn, shape));
    assertEquals(operations.includes("ReluGrad"), false);
  };
  kept((x, dy) => ({ dx: tf.mul(dy, tf.step(x)) }));
  kept((x, dy) => ({ y: tf.relu(x), dx: tf.mul(dy, tf.step(x, 0.1)) }));
  kept((x, dy) => ({ y: tf.relu(dy), dx: tf.mul(dy, tf.step(x)) }));
  kept((x, dy) => ({ y: tf.relu(x), dx: tf.mul(dy, tf.step(x)) }), [3]);
});
