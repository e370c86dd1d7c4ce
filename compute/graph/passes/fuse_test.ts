import { assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../../backends/select_backend.ts";
import { float, operationsOf } from "../../testdata/traced.ts";
import { trace } from "../../tracing/trace.ts";
import type { TensorType } from "../graph.ts";
import {
  fuseBias,
  fuseSumOfSquares,
  recognizeLogSoftmax,
  recognizeReluGradient,
  recognizeTanhSlope,
} from "./fuse.ts";
import { optimize } from "./optimize.ts";
import { removeAliases } from "./redundancy.ts";
import { eliminateDeadCode } from "./rewrite.ts";

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

function fusedConvolution(
  fn: (given: Given) => Record<string, tf.Tensor>,
  bias: number[] = [4],
) {
  const types = {
    x: float(1, 5, 5, 2),
    w: float(3, 3, 2, 4),
    b: float(...bias),
  };
  const graph = trace((given) => fn(given), types);
  return eliminateDeadCode(fuseBias(graph));
}

const convolve = ({ x, w }: Given) =>
  tf.conv2d(x as tf.Tensor4D, w as tf.Tensor4D, 2, "same");

Deno.test("a convolution and its bias are one operation", () => {
  const right = fusedConvolution((it) => ({ y: tf.add(convolve(it), it.b) }));
  const left = fusedConvolution((it) => ({ y: tf.add(it.b, convolve(it)) }));
  for (const { nodes: [node], inputs } of [right, left]) {
    assertEquals(node.op, "BiasedConv2D");
    assertEquals(node.inputs, inputs.map(({ value }) => value));
    assertEquals(node.outputs, [float(1, 3, 3, 4)]);
    assertEquals(node.attributes.strides, 2);
    assertEquals(node.attributes.relu, undefined);
  }
});

Deno.test("so are these and relu", () => {
  const { nodes } = fusedConvolution((it) => ({
    y: tf.relu(tf.add(convolve(it), it.b)),
  }));
  assertEquals(nodes.map(({ op }) => op), ["BiasedConv2D"]);
  assertEquals(nodes[0].attributes.relu, true);
  assertEquals(nodes[0].outputs, [float(1, 3, 3, 4)]);
});

Deno.test("what something else takes stays", () => {
  const made = fusedConvolution((it) => {
    const convolved = convolve(it);
    return { y: tf.add(convolved, it.b), convolved };
  });
  assertEquals(operationsOf(made), ["Conv2D", "Add"]);
  const shifted = fusedConvolution((it) => {
    const shifted = tf.add(convolve(it), it.b);
    return { y: tf.relu(shifted), shifted };
  });
  assertEquals(operationsOf(shifted), ["BiasedConv2D", "Relu"]);
});

Deno.test("what is no bias of the channels stays", () => {
  for (const bias of [[], [1], [3, 4], [1, 3, 3, 4]]) {
    const graph = fusedConvolution(
      (it) => ({ y: tf.add(convolve(it), it.b) }),
      bias,
    );
    assertEquals(operationsOf(graph), ["Conv2D", "Add"]);
  }
});

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

function recognizedRelu(
  fn: (x: tf.Tensor, dy: tf.Tensor) => Record<string, tf.Tensor>,
  shape = [2, 3],
) {
  const inputs = { x: float(2, 3), dy: float(...shape) };
  const graph = trace(({ x, dy }) => fn(x, dy), inputs);
  return eliminateDeadCode(recognizeReluGradient(graph));
}

Deno.test("a step of relu's input or output is its gradient", () => {
  const ofInput = recognizedRelu((x, dy) => ({
    y: tf.relu(x),
    dx: tf.mul(dy, tf.step(x)),
  }));
  const ofOutput = recognizedRelu((x, dy) => {
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
    const operations = operationsOf(recognizedRelu(fn, shape));
    assertEquals(operations.includes("ReluGrad"), false);
  };
  kept((x, dy) => ({ dx: tf.mul(dy, tf.step(x)) }));
  kept((x, dy) => ({ y: tf.relu(x), dx: tf.mul(dy, tf.step(x, 0.1)) }));
  kept((x, dy) => ({ y: tf.relu(dy), dx: tf.mul(dy, tf.step(x)) }));
  kept((x, dy) => ({ y: tf.relu(x), dx: tf.mul(dy, tf.step(x)) }), [3]);
});

function sumOfSquares(
  fn: (given: Record<"a" | "b", tf.Tensor>) => Record<string, tf.Tensor>,
  size: number,
): string[] {
  const graph = trace((given) => fn(given), { a: float(size), b: float(3) });
  return operationsOf(eliminateDeadCode(fuseSumOfSquares(graph)));
}

Deno.test("squares and their sum are one operation", () => {
  const norm = ({ a }: { a: tf.Tensor }) => ({ y: tf.sum(tf.square(a)) });
  assertEquals(sumOfSquares(norm, 100), ["SumOfSquares"]);
  assertEquals(sumOfSquares(norm, 20_000), ["SumOfSquares"]);
});

Deno.test("squares that something else takes stay, but their sum needs them not", () => {
  const twice = ({ a }: { a: tf.Tensor }) => {
    const squares = tf.square(a);
    return { y: tf.sum(squares), squares };
  };
  assertEquals(sumOfSquares(twice, 100), ["Square", "SumOfSquares"]);
  assertEquals(sumOfSquares(twice, 20_000), ["Square", "SumOfSquares"]);
});

Deno.test("many numbers that are put together for their squares are summed part by part", () => {
  const norm = ({ a, b }: Record<"a" | "b", tf.Tensor>) => ({
    y: tf.sum(tf.square(tf.concat([a, b]))),
  });
  assertEquals(sumOfSquares(norm, 100), ["Concat", "SumOfSquares"]);
  assertEquals(sumOfSquares(norm, 20_000), [
    "SumOfSquares",
    "SumOfSquares",
    "Add",
  ]);
  const alsoWhole = ({ a, b }: Record<"a" | "b", tf.Tensor>) => {
    const whole = tf.concat([a, b]);
    return { y: tf.sum(tf.square(whole)), whole };
  };
  assertEquals(sumOfSquares(alsoWhole, 20_000), ["Concat", "SumOfSquares"]);
});

Deno.test("tanh that products alone take is not cut off, and its slope is one operation", () => {
  const cut = (fn: (given: Given) => Record<string, tf.Tensor>) => {
    const graph = trace((given: Given) => fn(given), {
      x: float(5, 3),
      w: float(3, 4),
      b: float(4),
    });
    const { nodes } = recognizeTanhSlope(optimize(graph, { fuse: false }));
    return nodes.filter(({ op }) => op.startsWith("Tanh"))
      .map(({ op, attributes }) => attributes.isRounded ? `${op} *` : op);
  };
  const layer = (x: tf.Tensor, w: tf.Tensor) =>
    tf.matMul(tf.tanh(x) as tf.Tensor2D, w as tf.Tensor2D);
  assertEquals(cut(({ x, w }) => ({ y: layer(x, w) })), ["Tanh *"]);
  assertEquals(
    cut(({ x, w }) => ({ dx: tf.grad((x) => layer(x, w))(x) })),
    ["Tanh *", "TanhSlope"],
  );
  // What comes out of the program, or is computed with, is within the bounds.
  assertEquals(cut(({ x }) => ({ y: tf.tanh(x) })), ["Tanh"]);
  assertEquals(cut(({ x }) => ({ y: tf.square(tf.tanh(x)) })), ["Tanh"]);
});
