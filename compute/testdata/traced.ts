import type { DType, Graph, TensorType } from "../graph/graph.ts";

/** A declaration of a float32 tensor. */
export function float(...shape: number[]): TensorType {
  return { shape, dtype: "float32" };
}

/** A declaration of a tensor of another type. */
export function typed(dtype: DType, ...shape: number[]): TensorType {
  return { shape, dtype };
}

/** The operations of a graph in order, constants left out. */
export function operationsOf(graph: Graph): string[] {
  return graph.nodes.map(({ op }) => op).filter((op) => op !== "Constant");
}
