import { assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { trace } from "../../tracing/trace.ts";
import { eliminateDeadCode } from "./eliminate_dead_code.ts";
import { joinSplits } from "./join_splits.ts";

const X = { x: { shape: [6], dtype: "float32" } } as const;

/** Operations that are left of a function. */
function operations(fn: (x: tf.Tensor1D) => tf.Tensor): string[] {
  const graph = trace(({ x }) => ({ y: tf.exp(fn(x)) }), X);
  return eliminateDeadCode(joinSplits(graph)).nodes.map(({ op }) => op);
}

Deno.test("a vector that is split and joined again is itself", () => {
  const joined = operations((x) => {
    const [a, b] = tf.split(x, [4, 2]);
    return tf.concat([tf.reshape(tf.reshape(a, [2, 2]), [-1]), b]);
  });
  // The inner reshape is left to the pass for aliases.
  assertEquals(joined.at(-1), "Exp");
  assertEquals(operations((x) => tf.concat(tf.split(x, [4, 2]))), ["Exp"]);
});

Deno.test("another order, a part and two vectors are left alone", () => {
  const kept = [
    (x: tf.Tensor1D) => {
      const [a, b] = tf.split(x, 2);
      return tf.concat([b, a]);
    },
    (x: tf.Tensor1D) => tf.concat(tf.split(x, 3).slice(0, 2)),
    (x: tf.Tensor1D) => {
      const [a] = tf.split(x, 2);
      const [, b] = tf.split(tf.neg(x), 2);
      return tf.concat([a, b]);
    },
  ];
  for (const fn of kept) {
    assertEquals(operations(fn).includes("Concat"), true);
  }
});

Deno.test("matrices are not vectors", () => {
  const graph = trace(({ x }) => {
    const rows = tf.split(tf.reshape(x, [2, 3]), 2, 0);
    return { y: tf.concat(rows.map((row) => tf.reshape(row, [3]))) };
  }, X);
  assertEquals(joinSplits(graph).nodes.some(({ op }) => op === "Concat"), true);
});
