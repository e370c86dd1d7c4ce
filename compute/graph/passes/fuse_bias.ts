import type { Graph, Node, Value } from "../graph.ts";
import { rewrite } from "./rewrite.ts";

/** A product of matrices and the bias added to it, as one operation. */
export function fuseBias(graph: Graph): Graph {
  return rewrite(graph, (node, rewriter) => {
    if (node.op !== "Add") return undefined;
    for (const side of [0, 1] as const) {
      const product = rewriter.producerOf(node.inputs[side], "BatchMatMul");
      const bias = node.inputs[1 - side];
      if (product === undefined) continue;
      if (!rewriter.isUsedOnce(node.inputs[side])) continue;
      if (!isMatrixProduct(product) || !isBias(bias, product)) continue;
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
  return inputs.every(({ shape, dtype }) =>
    shape.length === 2 && dtype === "float32"
  );
}

/** Whether one number is added to each column of a product. */
function isBias({ shape }: Value, { outputs }: Node): boolean {
  return shape.length === 1 && shape[0] === outputs[0].shape[1];
}
