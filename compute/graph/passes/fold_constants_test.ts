import { assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../../backends/select_backend.ts";
import { float, operationsOf } from "../../testdata/traced.ts";
import { trace } from "../../tracing/trace.ts";
import { CONSTANT, type ConstantData, type Graph } from "../graph.ts";
import { foldConstants } from "./fold_constants.ts";

await selectBackend("cpu");

/** Folds a function without inputs; the numbers of its outputs. */
function folded(
  fn: () => Record<string, tf.Tensor>,
): (ConstantData | string)[] {
  const graph = foldConstants(trace(fn, {}));
  return graph.outputs.map(({ value }) => numbersOf(graph, value));
}

function numbersOf(graph: Graph, value: unknown): ConstantData | string {
  const node = graph.nodes.find((it) => it.outputs.includes(value as never))!;
  return node.op === CONSTANT ? node.attributes as ConstantData : node.op;
}

Deno.test("operations on constants are computed", () => {
  const [sum, chain] = folded(() => {
    const a = tf.tensor1d([1, 2, 3]);
    return { sum: tf.sum(a), chain: tf.mul(tf.add(a, a), tf.scalar(0.5)) };
  });
  assertEquals(sum, { values: Float32Array.of(6) });
  assertEquals(chain, { values: Float32Array.of(1, 2, 3) });
});

Deno.test("each type stays, and so do -0, NaN and infinities", () => {
  const [whole, truth, odd] = folded(() => {
    const a = tf.tensor1d([7, -7], "int32");
    return {
      whole: tf.floorDiv(a, tf.scalar(2, "int32")),
      truth: tf.greater(a, tf.scalar(0, "int32")),
      odd: tf.neg(tf.tensor1d([0, NaN, Infinity])),
    };
  });
  assertEquals(whole, { values: Int32Array.of(3, -4) });
  assertEquals(truth, { values: Uint8Array.of(1, 0) });
  assertEquals(odd, { values: Float32Array.of(-0, NaN, -Infinity) });
});

Deno.test("several results and kernels of this package's are folded", () => {
  assertEquals(
    folded(() => {
      const [a, b] = tf.split(tf.tensor1d([1, 2, 3, 4]), 2);
      const rows = tf.gather(a, tf.tensor1d([1, 0, 1], "int32"));
      return { b, rows };
    }),
    [{ values: Float32Array.of(3, 4) }, { values: Float32Array.of(2, 1, 2) }],
  );
});

Deno.test("kernels that take a list of tensors are folded", () => {
  const a = Float32Array.of(1, 2);
  assertEquals(
    folded(() => {
      const [x, y] = [tf.tensor1d(a), tf.tensor1d([3, 4])];
      return { both: tf.concat([x, y]), sum: tf.addN([x, y]) };
    }),
    [{ values: Float32Array.of(1, 2, 3, 4) }, {
      values: Float32Array.of(4, 6),
    }],
  );
});

Deno.test("what depends on an input is left", () => {
  const graph = foldConstants(trace(
    ({ x }) => ({ y: tf.add(tf.exp(tf.scalar(0)), x) }),
    { x: float(2) },
  ));
  assertEquals(operationsOf(graph), ["Add"]);
});

Deno.test("large results are not kept", () => {
  const [small, large] = folded(() => ({
    small: tf.sum(tf.exp(tf.zeros([100, 100]))),
    large: tf.exp(tf.zeros([100, 100])),
  }));
  assertEquals([small, large], ["Sum", "Exp"]);
});

Deno.test("the backend before is the one after", async () => {
  await selectBackend("wasm");
  folded(() => ({ y: tf.exp(tf.scalar(0)) }));
  assertEquals(tf.getBackend(), "wasm");
  await selectBackend("cpu");
});
