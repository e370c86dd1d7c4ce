import { GATHER_ROWS, gatherRowsOf } from "./gather_rows.ts";
import { type Graph, type Node, sizeOf } from "./graph.ts";

/** Counts the multiplications of matrix products and convolutions. */
export function multiplications({ nodes }: Pick<Graph, "nodes">): number {
  return nodes.reduce((sum, node) => sum + multiplicationsOf(node), 0);
}

function multiplicationsOf(node: Node): number {
  const { op, inputs, outputs, attributes } = node;
  switch (op) {
    case "BatchMatMul":
    case "Gemm": {
      const [rows, columns] = inputs[0].shape.slice(-2);
      return sizeOf(outputs[0].shape) *
        (attributes.transposeA ? rows : columns);
    }
    case "Conv2D":
      return sizeOf(outputs[0].shape) * sizeOf(inputs[1].shape.slice(0, 3));
    case "Conv2DBackpropInput":
      return sizeOf(inputs[0].shape) * sizeOf(inputs[1].shape.slice(0, 3));
    case "Conv2DBackpropFilter":
      return sizeOf(inputs[1].shape) * sizeOf(outputs[0].shape.slice(0, 3));
    case GATHER_ROWS:
      return multiplications({ nodes: gatherRowsOf(node).chain });
    default:
      return 0;
  }
}
