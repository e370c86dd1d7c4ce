import { assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../../backend.ts";
import { float, operationsOf } from "../../testdata/traced.ts";
import { trace } from "../../tracing/trace.ts";
import { eliminateDeadCode } from "./eliminate_dead_code.ts";
import { hoistFromConcat } from "./hoist_from_concat.ts";

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
