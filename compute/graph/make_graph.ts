import type { Graph } from "./graph.ts";
import { printGraph } from "./print.ts";

/** A graph of its parts, with printing. */
export function makeGraph(parts: Omit<Graph, "toString">): Graph {
  const graph: Graph = { ...parts, toString: () => printGraph(graph) };
  return graph;
}
