import type { Graph, Value } from "../graph.ts";
import { makeGraph } from "../make_graph.ts";

/** Drops operations that no output depends on. */
export function eliminateDeadCode(graph: Graph): Graph {
  const needed = new Set<Value>(graph.outputs.map(({ value }) => value));
  const nodes = graph.nodes.toReversed().filter((node) => {
    if (!node.outputs.some((output) => needed.has(output))) return false;
    for (const input of node.inputs) needed.add(input);
    return true;
  });
  return makeGraph({ ...graph, nodes: nodes.reverse() });
}
