import type { Graph, Node } from "../graph.ts";
import { rewrite } from "./rewrite.ts";

/**
 * Takes a vector that was split into tensors and is joined from all of them
 * again as it was before: what two functions of flat parameters do between
 * each other.
 */
export function joinSplits(graph: Graph): Graph {
  return rewrite(graph, (node, rewriter) => {
    if (node.op !== "Concat" || node.outputs[0].shape.length !== 1) {
      return undefined;
    }
    const parts = node.inputs.map((value) =>
      rewriter.producerOf(value, "Reshape")?.inputs[0] ?? value
    );
    const split = rewriter.producerOf(parts[0], "Split");
    if (split === undefined || !isVector(split)) return undefined;
    const whole = split.outputs.length === parts.length &&
      split.outputs.every((output, i) => output === parts[i]);
    return whole ? split.inputs[0] : undefined;
  });
}

function isVector({ inputs: [value] }: Node): boolean {
  return value.shape.length === 1;
}
