import type { TensorType } from "../graph/graph.ts";
import { isTypeLeaf, leavesOf, type Tree, treeOf } from "../tracing/tree.ts";
import type { OtherShapes } from "./_inputs.ts";

/** The declarations with other shapes in the place of some. */
export function withShapes(
  types: Tree<TensorType>,
  others: OtherShapes | undefined,
): Tree<TensorType> {
  if (others === undefined) return types;
  const leaves = leavesOf(types, isTypeLeaf).map(({ name, path, leaf }) => ({
    path,
    leaf: { dtype: leaf.dtype, shape: others.get(name) ?? leaf.shape },
  }));
  return treeOf(leaves, types);
}
