import {
  sameShape,
  sizeOf,
  type TensorData,
  type TensorType,
  typeName,
} from "../graph/graph.ts";
import { leavesOf } from "../tracing/tree.ts";
import { allocate } from "./_program.ts";
import type { StateLeaf } from "./_state_memory.ts";

/** A tensor of a state as it is saved. */
export interface SavedState {
  readonly data: TensorData;
  readonly shape: number[];
}

/**
 * Throws unless the new state has the tensors of the old one.
 *
 * @param made What was returned, by name.
 * @param leaves The old state.
 * @param action What cannot be done otherwise.
 */
export function checkNewState(
  made: ReadonlyMap<string, TensorType>,
  leaves: readonly StateLeaf[],
  action: string,
): void {
  for (const { name: path, leaf } of leaves) {
    const value = made.get(path);
    if (value === undefined) {
      throw new TypeError(
        `Cannot ${action}: it returns no '${path}', which its state has`,
      );
    }
    const same = sameShape(value.shape, leaf.shape) &&
      value.dtype === leaf.dtype;
    if (same) continue;
    throw new TypeError(
      `Cannot ${action}: it returns '${path}' as ${
        typeName(value)
      }, its state has ${typeName(leaf)}`,
    );
  }
  const known = new Set(leaves.map(({ name }) => name));
  for (const path of made.keys()) {
    if (!path.startsWith("state.") || known.has(path)) continue;
    throw new TypeError(
      `Cannot ${action}: it returns '${path}', which its state does not have`,
    );
  }
}

/**
 * The arrays of a saved state in the order of the leaves.
 *
 * @throws {TypeError} If an array is of another type.
 * @throws {RangeError} If a tensor is missing, unknown or of another shape.
 */
export function checkSaved(
  state: unknown,
  leaves: readonly StateLeaf[],
): TensorData[] {
  const saved = new Map(
    leavesOf(state, isSaved).map(({ name, leaf }) => [`state.${name}`, leaf]),
  );
  const arrays = leaves.map(({ name, leaf }) => {
    const it = saved.get(name);
    saved.delete(name);
    if (it === undefined) {
      throw new RangeError(`Cannot write a state without '${name}'`);
    }
    checkTensor(it, { name, leaf });
    return it.data;
  });
  const [unknown] = saved.keys();
  if (unknown === undefined) return arrays;
  throw new RangeError(
    `Cannot write '${unknown}': the state has no such tensor`,
  );
}

function isSaved(node: unknown): node is SavedState {
  return ArrayBuffer.isView((node as Partial<SavedState> | null)?.data);
}

function checkTensor(
  { data, shape }: SavedState,
  { name, leaf }: Pick<StateLeaf, "name" | "leaf">,
): void {
  const { constructor } = allocate({ size: 0, dtype: leaf.dtype });
  if (data.constructor !== constructor) {
    throw new TypeError(
      `Cannot write '${name}' from a ${data.constructor.name}: expected ${
        typeName(leaf)
      } in a ${constructor.name}`,
    );
  }
  if (data.length === sizeOf(leaf.shape) && sameShape(shape, leaf.shape)) {
    return;
  }
  throw new RangeError(
    `Cannot write '${name}' from ${data.length} numbers of shape [${shape}]: expected ${
      typeName(leaf)
    }`,
  );
}
