import { assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../../backend.ts";
import { float, operationsOf } from "../../testdata/traced.ts";
import { trace } from "../../tracing/trace.ts";
import { eliminateDeadCode } from "./eliminate_dead_code.ts";
import { recognizeLogSoftmax } from "./recognize_log_softmax.ts";
import { removeAliases } from "./remove_aliases.ts";

await selectBackend("cpu");

function recognized(fn: (x: tf.Tensor) => tf.Tensor): string[] {
  const graph = trace(({ x }) => ({ y: fn(x) }), { x: float(2, 3) });
  return operationsOf(
    eliminateDeadCode(recognizeLogSoftmax(removeAliases(graph))),
  );
}

/** Its parts, of which each can be another. */
function written(
  x: tf.Tensor,
  { max = tf.max(x, 1, true), axis = 1, keepDims = true, of = x } = {},
) {
  const shifted = tf.sub(x, max);
  const exp = tf.exp(tf.sub(of, max));
  const sum = tf.sum(of === x ? tf.exp(shifted) : exp, axis, keepDims);
  return tf.sub(shifted, tf.log(sum));
}

Deno.test("TensorFlow.js's own and a written one are recognized", () => {
  assertEquals(recognized((x) => tf.logSoftmax(x)), ["LogSoftmax"]);
  assertEquals(recognized((x) => written(x)), ["LogSoftmax"]);
});

Deno.test("over another axis, or of other numbers, it is left", () => {
  const left = (fn: (x: tf.Tensor) => tf.Tensor) =>
    assertEquals(recognized(fn).includes("LogSoftmax"), false);
  left((x) => written(x, { axis: 0 }));
  left((x) => written(x, { max: tf.max(x, 0, true) }));
  left((x) => written(x, { max: tf.min(x, 1, true) }));
  left((x) => written(x, { max: tf.max(tf.abs(x), 1, true) }));
  left((x) => written(x, { of: tf.abs(x) }));
});

Deno.test("sums over both axes are left", () => {
  const ops = recognized((x) => {
    const shifted = tf.sub(x, tf.max(x, [0, 1], true));
    return tf.sub(shifted, tf.log(tf.sum(tf.exp(shifted), [0, 1], true)));
  });
  assertEquals(ops.includes("LogSoftmax"), false);
});
