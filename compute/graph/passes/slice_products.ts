import { countUses, type Graph, type Node, type Value } from "../graph.ts";
import { rewrite, type Rewriter } from "./rewrite.ts";

/**
 * Computes only those columns of a matrix product that are used: the gradient
 * of joined inputs is split, and often that of one input alone is wanted, as
 * when a critic is asked how a policy's actions should change.
 */
export function sliceProducts(graph: Graph): Graph {
  const uses = countUses(graph);
  return rewrite(graph, (node, rewriter) => {
    if (node.op !== "Split" || node.attributes.axis !== 1) return undefined;
    const used = node.outputs.filter((output) => uses.has(output));
    const [product] = node.inputs;
    const producer = rewriter.producerOf(product, "BatchMatMul");
    if (used.length !== 1 || producer === undefined) return undefined;
    if (!isMatrixProduct(producer) || !rewriter.isUsedOnce(product)) {
      return undefined;
    }
    const made = sliced(producer, { split: node, used: used[0] }, rewriter);
    return node.outputs.map(() => made);
  });
}

function isMatrixProduct({ inputs }: Node): boolean {
  return inputs.every(({ shape }) => shape.length === 2);
}

/** Multiplies with the columns of one part of a split. */
function sliced(
  product: Node,
  { split, used }: { split: Node; used: Value },
  rewriter: Rewriter,
): Value {
  const [a, b] = product.inputs;
  const { transposeB } = product.attributes;
  const before = split.outputs.slice(0, split.outputs.indexOf(used));
  const begin = before.reduce((sum, { shape }) => sum + shape[1], 0);
  const width = used.shape[1];
  const axis = transposeB ? 0 : 1;
  const columns = rewriter.add("Strided", [b], {
    attributes: {
      begin: [begin],
      end: [begin + width],
      strides: [1],
      axes: [axis],
      shape: b.shape.map((length, i) => i === axis ? width : length),
    },
    from: split,
  });
  return rewriter.add("BatchMatMul", [a, columns], {
    attributes: product.attributes,
    from: product,
  });
}
