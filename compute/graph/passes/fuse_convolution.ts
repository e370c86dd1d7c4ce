import type { Graph, Node, Value } from "../graph.ts";
import { rewrite, type Rewriter } from "./rewrite.ts";

/** A convolution, the bias added to it, and `Relu`, as one operation. */
export function fuseConvolution(graph: Graph): Graph {
  return rewrite(graph, (node, rewriter) => {
    switch (node.op) {
      case "Add":
        return withBias(node, rewriter);
      case "Relu":
        return withRelu(node, rewriter);
      default:
        return undefined;
    }
  });
}

function withBias(node: Node, rewriter: Rewriter): Value | undefined {
  for (const side of [0, 1] as const) {
    const made = node.inputs[side];
    const bias = node.inputs[1 - side];
    const from = rewriter.producerOf(made, "Conv2D");
    if (from === undefined || !rewriter.isUsedOnce(made)) continue;
    if (made.dtype !== "float32" || !isBias(bias, made)) continue;
    const { attributes, inputs } = from;
    return rewriter.add("BiasedConv2D", [...inputs, bias], {
      attributes,
      from,
    });
  }
  return undefined;
}

/** Whether one number is added to each channel. */
function isBias({ shape }: Value, images: Value): boolean {
  return shape.length === 1 && shape[0] === images.shape[3];
}

function withRelu(
  { inputs: [made] }: Node,
  rewriter: Rewriter,
): Value | undefined {
  const from = rewriter.producerOf(made, "BiasedConv2D");
  if (from === undefined || !rewriter.isUsedOnce(made)) return undefined;
  const attributes = { ...from.attributes, relu: true };
  return rewriter.add("BiasedConv2D", from.inputs, { attributes, from });
}
