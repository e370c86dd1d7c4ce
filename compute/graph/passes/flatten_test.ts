import { assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../../backends/select_backend.ts";
import { float, operationsOf } from "../../testdata/traced.ts";
import { trace } from "../../tracing/trace.ts";
import { hoistFromConcat, joinSplits } from "./flatten.ts";
import { eliminateDeadCode } from "./rewrite.ts";

await selectBackend("cpu");

type Given = Record<"a" | "b" | "c", tf.Tensor>;

function hoisted(fn: (given: Given) => Record<string, tf.Tensor>): string[] {
  const inputs = { a: float(2, 3), b: float(4), c: float() };
  const graph = trace((given) => fn(given), inputs);
  return operationsOf(eliminateDeadCode(hoistFromConcat(graph)));
}

const flat = (x: tf.Tensor) => tf.reshape(x, [-1]);
const join = (...parts: tf.Tensor[]) => tf.concat(parts.map(flat));

Deno.test("a number is applied to the concatenation", () => {
  for (
    const [op, of] of Object.entries(
      { Add: tf.add, Sub: tf.sub, Multiply: tf.mul, RealDiv: tf.div },
    )
  ) {
    const apply = ({ a, b, c }: Given) => ({ y: join(of(a, c), of(b, c)) });
    assertEquals(hoisted(apply), ["Reshape", "Reshape", "Concat", op]);
  }
});

Deno.test("the number must come second and be the same", () => {
  const kept = (fn: (given: Given) => tf.Tensor) =>
    assertEquals(hoisted((it) => ({ y: fn(it) })).at(-1), "Concat");
  kept(({ a, b, c }) => join(tf.sub(c, a), tf.sub(c, b)));
  kept(({ a, b, c }) => join(tf.mul(a, c), tf.mul(b, tf.exp(c))));
  kept(({ a, b, c }) => join(tf.mul(a, c), tf.add(b, c)));
  kept(({ a, b, c }) => join(tf.mul(a, c), b));
  kept(({ a, b, c }) => {
    const number = tf.reshape(c, [1]);
    return join(tf.mul(a, number), tf.mul(b, number));
  });
});

Deno.test("parts that others take too stay as they are", () => {
  const ops = hoisted(({ a, b, c }) => {
    const scaled = tf.mul(b, c);
    return { y: join(tf.mul(a, c), scaled), scaled };
  });
  assertEquals(ops.filter((op) => op === "Multiply").length, 2);
});

Deno.test("a number that is itself a part is left a number", () => {
  const graph = hoistFromConcat(trace(
    ({ c, d }) => ({ y: join(tf.mul(c, d), tf.mul(d, d)) }),
    { c: float(), d: float() },
  ));
  assertEquals(graph.outputs[0].value.shape, [2]);
});

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
