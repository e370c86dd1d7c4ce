import {
  type Graph,
  sameShape,
  sizeOf,
  type TensorData,
  typeName,
} from "../graph/graph.ts";
import type { StateLeaf } from "./_state_memory.ts";

/** A tensor of a state as it is saved. */
export interface SavedState {
  readonly data: TensorData;
  readonly shape: number[];
}

/** Throws unless the new state has the tensors of the old one. */
export function checkNewState(
  graph: Graph,
  leaves: readonly StateLeaf[],
  name: string,
): void {
  const made = new Map(graph.outputs.map(({ name, value }) => [name, value]));
  for (const { name: path, leaf } of leaves) {
    const value = made.get(path);
    if (value === undefined) {
      throw new TypeError(
        `Cannot compile ${name}: it returns no '${path}', which its state has`,
      );
    }
    const same = sameShape(value.shape, leaf.shape) &&
      value.dtype === leaf.dtype;
    if (same) continue;
    throw new TypeError(
      `Cannot compile ${name}: it returns '${path}' as ${
        typeName(value)
      }, its state has ${typeName(leaf)}`,
    );
  }
  const known = new Set(leaves.map(({ name }) => name));
  for (const path of made.keys()) {
    if (!path.startsWith("state.") || known.has(path)) continue;
    throw new TypeError(
      `Cannot compile ${name}: it returns '${path}', which its state does not have`,
    );
  }
}

/** The arrays of a saved state in the order of the leaves. */
export function checkSaved(
  state: unknown,
  leaves: readonly StateLeaf[],
): TensorData[] {
  return leaves.map(({ name, path, leaf }) => {
    const saved = path.reduce(
      (node, key) => (node as Record<string, unknown>)?.[key],
      state,
    ) as Partial<SavedState> | undefined;
    if (saved?.data?.length === sizeOf(leaf.shape)) return saved.data;
    throw new RangeError(
      `Cannot write '${name}': it has ${
        saved?.data?.length ?? "no"
      } numbers, expected ${typeName(leaf)}`,
    );
  });
}
