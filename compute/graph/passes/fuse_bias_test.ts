import { assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../../backend.ts";
import { float, operationsOf } from "../../testdata/traced.ts";
import { trace } from "../../tracing/trace.ts";
import type { TensorType } from "../graph.ts";
import { eliminateDeadCode } from "./eliminate_dead_code.ts";
import { fuseBias } from "./fuse_bias.ts";

await selectBackend("cpu");

type Given = Record<"x" | "w" | "b", tf.Tensor>;

function fused(
  fn: (given: Given) => Record<string, tf.Tensor>,
  [x, w, b]: TensorType[],
): string[] {
  const graph = trace((given) => fn(given), { x, w, b });
  return operationsOf(eliminateDeadCode(fuseBias(graph)));
}

const shapes = [float(5, 3), float(3, 4), float(4)];

Deno.test("a product and its bias are one operation, on either side", () => {
  const right = ({ x, w, b }: Given) => ({ y: tf.add(tf.matMul(x, w), b) });
  const left = ({ x, w, b }: Given) => ({ y: tf.add(b, tf.matMul(x, w)) });
  assertEquals(fused(right, shapes), ["Gemm"]);
  assertEquals(fused(left, shapes), ["Gemm"]);
});

Deno.test("transposed factors stay transposed", () => {
  const graph = fuseBias(trace(
    ({ x, w, b }) => ({ y: tf.add(tf.matMul(x, w, true, true), b) }),
    { x: float(3, 5), w: float(4, 3), b: float(4) },
  ));
  const { inputs, attributes, outputs } = graph.nodes[graph.nodes.length - 1];
  assertEquals(inputs, [float(3, 5), float(4, 3), float(4)]);
  assertEquals(attributes, { transposeA: true, transposeB: true });
  assertEquals(outputs, [float(5, 4)]);
});

Deno.test("a product that something else takes stays", () => {
  const twice = ({ x, w, b }: Given) => {
    const product = tf.matMul(x, w);
    return { y: tf.add(product, b), product };
  };
  assertEquals(fused(twice, shapes), ["BatchMatMul", "Add"]);
});

Deno.test("what is no bias of the columns stays", () => {
  const add = ({ x, w, b }: Given) => ({ y: tf.add(tf.matMul(x, w), b) });
  const kept = ["BatchMatMul", "Add"];
  assertEquals(fused(add, [float(5, 3), float(3, 4), float(5, 1)]), kept);
  assertEquals(fused(add, [float(5, 3), float(3, 4), float()]), kept);
  assertEquals(fused(add, [float(5, 3), float(3, 1), float(4)]), kept);
  assertEquals(fused(add, [float(2, 5, 3), float(2, 3, 4), float(4)]), kept);
});

Deno.test("of two products that are added, each is computed", () => {
  const both = ({ x, w }: Given) => {
    const product = tf.matMul(x, w);
    return { y: tf.add(product, product) };
  };
  assertEquals(fused(both, shapes), ["BatchMatMul", "Add"]);
});
