import { assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { selectBackend } from "../../backends/select_backend.ts";
import { given, testCompiled } from "../../testdata/compiled_agrees.ts";
import { float, operationsOf } from "../../testdata/traced.ts";
import { trace } from "../../tracing/trace.ts";
import type { Graph } from "../graph.ts";
import { removeAliases } from "./redundancy.ts";
import { convolveBeforeScaling, joinSplits } from "./reorder.ts";
import { eliminateDeadCode } from "./rewrite.ts";

await selectBackend("cpu");

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

type Images = Record<"x" | "w" | "c", tf.Tensor>;

function moved(
  fn: (given: Images) => Record<string, tf.Tensor>,
  { size = 9, factor = [] }: { size?: number; factor?: number[] } = {},
): Graph {
  const types = {
    x: float(2, size, size, 2),
    w: float(3, 3, 2, 4),
    c: float(...factor),
  };
  const graph = trace((given) => fn(given), types);
  const plain = eliminateDeadCode(removeAliases(graph));
  return eliminateDeadCode(convolveBeforeScaling(plain));
}

const convolve = (x: tf.Tensor, w: tf.Tensor) =>
  tf.conv2d(x as tf.Tensor4D, w as tf.Tensor4D, 1, "valid");

Deno.test("filters are scaled instead of images", () => {
  for (const scale of [tf.mul, tf.div]) {
    const { nodes, inputs } = moved(({ x, w, c }) => ({
      y: convolve(scale(x, c), w),
    }));
    const [scaling, convolution] = nodes;
    assertEquals(scaling.outputs[0].shape, [3, 3, 2, 4]);
    assertEquals(scaling.inputs, [inputs[1].value, inputs[2].value]);
    assertEquals(convolution.inputs[0], inputs[0].value);
    assertEquals(convolution.inputs[1], scaling.outputs[0]);
  }
});

Deno.test("gradients of filters are scaled as well", () => {
  const graph = moved(({ x, w, c }) => {
    const scaled = tf.div(x, c);
    const loss = (w: tf.Tensor) => tf.sum(tf.square(convolve(scaled, w)));
    return { dw: tf.grad(loss)(w) };
  });
  const divided = graph.nodes.filter(({ op }) => op === "RealDiv");
  assertEquals(divided.map(({ outputs: [{ shape }] }) => shape), [
    [3, 3, 2, 4],
    [3, 3, 2, 4],
  ]);
});

Deno.test("images that are needed as they are stay", () => {
  const kept = ["Multiply", "Conv2D"];
  const taken = moved(({ x, w, c }) => {
    const scaled = tf.mul(x, c);
    return { y: convolve(scaled, w), scaled };
  });
  assertEquals(operationsOf(taken), kept);
  assertEquals(taken.nodes[1].inputs[0], taken.nodes[0].outputs[0]);
  const read = moved(({ x, w, c }) => {
    const scaled = tf.mul(x, c);
    return { y: convolve(scaled, w), z: tf.neg(scaled) };
  });
  assertEquals(operationsOf(read), [...kept, "Neg"]);
});

Deno.test("so do small images, and those that no number scales", () => {
  const scaled = ({ x, w, c }: Images) => ({ y: convolve(tf.mul(x, c), w) });
  for (const options of [{ size: 3 }, { factor: [2] }]) {
    const [{ outputs: [{ shape }] }] = moved(scaled, options).nodes;
    assertEquals(shape[0], 2);
  }
});

testCompiled("numbers stay the same", fc.constantFrom(1, 3), (batch) => ({
  fn: (x, filter) => convolve(tf.div(x, 255), filter),
  inputs: [given([batch, 9, 9, 2]), given([3, 3, 2, 4], { seed: 2 })],
  gradients: true,
}));
