import type { StateRun } from "../graph/passes/pack_state.ts";
import { sizeOf, type TensorData, type TensorType } from "../graph/graph.ts";
import { isTensor } from "../tracing/trace.ts";
import { leavesOf } from "../tracing/tree.ts";
import { allocate } from "./_program.ts";

/** A tensor of a state. */
export interface StateLeaf {
  readonly name: string;
  readonly path: readonly string[];
  readonly leaf: TensorType;
}

/** The tensors of a state, by the names that they have in a graph. */
export function stateLeaves(state: unknown): StateLeaf[] {
  return leavesOf(state, isTensor).map(({ name, path, leaf }) => ({
    name: `state.${name}`,
    path,
    leaf: { shape: leaf.shape, dtype: leaf.dtype as TensorType["dtype"] },
  }));
}

/**
 * Where a state lies: all its float32 tensors in one array, those of each run
 * one after the other. There are two such places, that are read and written in
 * turns.
 */
export class StateMemory {
  /** The array of each tensor and of each run, by name. */
  readonly arrays: ReadonlyMap<string, TensorData>;

  constructor(
    leaves: readonly StateLeaf[],
    { runs, take }: {
      runs: readonly StateRun[];
      /** Gives an array of so many numbers, all 0. */
      take: (size: number) => Float32Array;
    },
  ) {
    const arrays = new Map<string, TensorData>();
    const floats = inOrder(leaves, runs);
    const sizes = floats.map(({ leaf }) => sizeOf(leaf.shape));
    const all = take(stateSize(leaves));
    let offset = 0;
    floats.forEach(({ name }, i) => {
      arrays.set(name, all.subarray(offset, offset += sizes[i]));
    });
    for (const { name, leaf } of leaves) {
      const { shape, dtype } = leaf;
      if (dtype === "float32") continue;
      arrays.set(name, allocate({ size: sizeOf(shape), dtype }));
    }
    for (const { name, members } of runs) {
      const first = arrays.get(members[0])!;
      const size = members
        .reduce((sum, member) => sum + arrays.get(member)!.length, 0);
      const start = (first.byteOffset - all.byteOffset) /
        Float32Array.BYTES_PER_ELEMENT;
      arrays.set(name, all.subarray(start, start + size));
    }
    this.arrays = arrays;
  }
}

/** How many float32 numbers a state has. */
export function stateSize(leaves: readonly StateLeaf[]): number {
  return leaves.filter(({ leaf }) => leaf.dtype === "float32")
    .reduce((sum, { leaf }) => sum + sizeOf(leaf.shape), 0);
}

/** The float32 tensors: those of runs first, run by run. */
function inOrder(
  leaves: readonly StateLeaf[],
  runs: readonly StateRun[],
): StateLeaf[] {
  const byName = new Map(leaves.map((leaf) => [leaf.name, leaf]));
  const names = new Set([
    ...runs.flatMap(({ members }) => members),
    ...leaves.filter(({ leaf }) => leaf.dtype === "float32")
      .map(({ name }) => name),
  ]);
  return [...names].map((name) => byName.get(name)!);
}
