import { countUses, type Graph, type Node, type Value } from "../graph.ts";
import { rewrite } from "./rewrite.ts";

/** A product of matrices and the bias added to it, as one operation. */
export function fuseBias(graph: Graph): Graph {
  const uses = countUses(graph);
  const once = (value: Value) => uses.get(value) === 1;
  return rewrite(graph, (node, rewriter) => {
    if (node.op !== "Add") return undefined;
    for (const side of [0, 1] as const) {
      const product = rewriter.producerOf(node.inputs[side], "BatchMatMul");
      const bias = node.inputs[1 - side];
      if (product === undefined || !once(node.inputs[side])) continue;
      if (!isMatrixProduct(product) || !isBias(bias, node)) continue;
      const { attributes } = product;
      return rewriter.add("Gemm", [...product.inputs, bias], {
        attributes,
        from: product,
      });
    }
    return undefined;
  });
}

function isMatrixProduct({ inputs }: Node): boolean {
  return inputs.every(({ shape }) => shape.length === 2);
}

/** Whether one number is added to each column. */
function isBias({ shape }: Value, { outputs }: Node): boolean {
  return shape.length === 1 && shape[0] === outputs[0].shape[1];
}
