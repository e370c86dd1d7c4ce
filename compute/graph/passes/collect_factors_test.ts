import { assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../../backend.ts";
import { float } from "../../testdata/traced.ts";
import { trace } from "../../tracing/trace.ts";
import { collectFactors } from "./collect_factors.ts";
import { eliminateDeadCode } from "./eliminate_dead_code.ts";

await selectBackend("cpu");

type Given = Record<"x" | "y" | "a" | "b", tf.Tensor>;

const INPUTS = { x: float(3), y: float(2, 1), a: float(), b: float() };

/** The operations of a function afterwards, with the shapes that they make. */
function collected(fn: (given: Given) => tf.Tensor): string[] {
  const graph = trace((given) => ({ made: fn(given) }), INPUTS);
  return eliminateDeadCode(collectFactors(graph)).nodes
    .map(({ op, outputs: [{ shape }] }) => `${op} [${shape}]`);
}

Deno.test("numbers that scale a tensor are multiplied first", () => {
  const once = ["Multiply []", "Multiply [3]"];
  assertEquals(collected(({ x, a, b }) => tf.mul(tf.mul(x, a), b)), once);
  assertEquals(collected(({ x, a, b }) => tf.mul(b, tf.mul(a, x))), once);
});

Deno.test("tensors, and numbers alone, are multiplied as they were", () => {
  const tensors = collected(({ x, y, a }) => tf.mul(tf.mul(x, a), y));
  assertEquals(tensors, ["Multiply [3]", "Multiply [2,3]"]);
  const numbers = collected(({ a, b }) => tf.mul(tf.mul(a, b), a));
  assertEquals(numbers, ["Multiply []", "Multiply []"]);
});

Deno.test("two constants are left to the simplification", () => {
  const ops = collected(({ x }) => tf.mul(tf.mul(x, 1e30), 1e30));
  assertEquals(ops.filter((it) => it === "Multiply [3]").length, 2);
});

Deno.test("a number over a tensor joins the tensor's factor", () => {
  assertEquals(
    collected(({ x, y, a, b }) => tf.mul(tf.mul(x, a), tf.div(b, y))),
    ["Multiply []", "Multiply [3]", "RealDiv [2,3]"],
  );
});

Deno.test("a square that is known is scaled by the number's", () => {
  const both = collected(({ x, a }) =>
    tf.add(tf.square(x), tf.square(tf.mul(x, a)))
  );
  assertEquals(both, ["Square [3]", "Square []", "Multiply [3]", "Add [3]"]);
  const alone = collected(({ x, a }) => tf.square(tf.mul(x, a)));
  assertEquals(alone, ["Multiply [3]", "Square [3]"]);
});
