import { assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../../backend.ts";
import { float, operationsOf } from "../../testdata/traced.ts";
import { trace } from "../../tracing/trace.ts";
import { eliminateDeadCode } from "./eliminate_dead_code.ts";
import { fuseConvolution } from "./fuse_convolution.ts";

await selectBackend("cpu");

type Given = Record<"x" | "w" | "b", tf.Tensor>;

function fused(
  fn: (given: Given) => Record<string, tf.Tensor>,
  bias: number[] = [4],
) {
  const types = {
    x: float(1, 5, 5, 2),
    w: float(3, 3, 2, 4),
    b: float(...bias),
  };
  const graph = trace((given) => fn(given), types);
  return eliminateDeadCode(fuseConvolution(graph));
}

const convolve = ({ x, w }: Given) =>
  tf.conv2d(x as tf.Tensor4D, w as tf.Tensor4D, 2, "same");

Deno.test("a convolution and its bias are one operation", () => {
  const right = fused((it) => ({ y: tf.add(convolve(it), it.b) }));
  const left = fused((it) => ({ y: tf.add(it.b, convolve(it)) }));
  for (const { nodes: [node], inputs } of [right, left]) {
    assertEquals(node.op, "BiasedConv2D");
    assertEquals(node.inputs, inputs.map(({ value }) => value));
    assertEquals(node.outputs, [float(1, 3, 3, 4)]);
    assertEquals(node.attributes.strides, 2);
    assertEquals(node.attributes.relu, undefined);
  }
});

Deno.test("so are these and relu", () => {
  const { nodes } = fused((it) => ({
    y: tf.relu(tf.add(convolve(it), it.b)),
  }));
  assertEquals(nodes.map(({ op }) => op), ["BiasedConv2D"]);
  assertEquals(nodes[0].attributes.relu, true);
  assertEquals(nodes[0].outputs, [float(1, 3, 3, 4)]);
});

Deno.test("what something else takes stays", () => {
  const made = fused((it) => {
    const convolved = convolve(it);
    return { y: tf.add(convolved, it.b), convolved };
  });
  assertEquals(operationsOf(made), ["Conv2D", "Add"]);
  const shifted = fused((it) => {
    const shifted = tf.add(convolve(it), it.b);
    return { y: tf.relu(shifted), shifted };
  });
  assertEquals(operationsOf(shifted), ["BiasedConv2D", "Relu"]);
});

Deno.test("what is no bias of the channels stays", () => {
  for (const bias of [[], [1], [3, 4], [1, 3, 3, 4]]) {
    const graph = fused((it) => ({ y: tf.add(convolve(it), it.b) }), bias);
    assertEquals(operationsOf(graph), ["Conv2D", "Add"]);
  }
});
