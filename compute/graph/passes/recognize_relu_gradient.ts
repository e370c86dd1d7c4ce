import { type Graph, type Node, sameShape, type Value } from "../graph.ts";
import { rewrite, type Rewriter } from "./rewrite.ts";

/**
 * One operation for the gradient of `Relu`, which TensorFlow.js computes by a
 * step: `dy step(x)`. It looks at the output, so that nothing but `Relu` needs
 * the input; where that is NaN, so is the gradient.
 */
export function recognizeReluGradient(graph: Graph): Graph {
  const activated = new Map<Value, Value>();
  return rewrite(graph, (node, rewriter) => {
    if (node.op === "Relu") {
      const [y] = node.outputs;
      activated.set(node.inputs[0], y).set(y, y);
    }
    return node.op === "Multiply"
      ? gradientOf(node, { rewriter, activated })
      : undefined;
  });
}

function gradientOf(
  node: Node,
  { rewriter, activated }: {
    rewriter: Rewriter;
    activated: ReadonlyMap<Value, Value>;
  },
): Value | undefined {
  for (const side of [0, 1] as const) {
    const step = rewriter.producerOf(node.inputs[side], "Step");
    const dy = node.inputs[1 - side];
    const y = step && activated.get(step.inputs[0]);
    if (y === undefined || (step!.attributes.alpha ?? 0) !== 0) continue;
    if (dy.dtype !== "float32" || y.dtype !== "float32") continue;
    if (!sameShape(dy.shape, y.shape)) continue;
    return rewriter.add("ReluGrad", [dy, y], { from: node });
  }
  return undefined;
}
