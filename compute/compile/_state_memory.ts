import type { StateRun } from "../graph/passes/pack_state.ts";
import { sizeOf, type TensorData, type TensorType } from "../graph/graph.ts";
import type { Unit } from "../loops/in_place.ts";
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

/** What of a state lies in one array: a run, or a tensor by itself. */
export function unitsOf(
  leaves: readonly StateLeaf[],
  runs: readonly StateRun[],
): (Unit & { size: number })[] {
  const floats = new Map(
    leaves.filter(({ leaf }) => leaf.dtype === "float32")
      .map(({ name, leaf }) => [name, sizeOf(leaf.shape)]),
  );
  const units = runs.map(({ name, members }) => ({
    name,
    members,
    size: members.reduce((sum, member) => sum + floats.get(member)!, 0),
  }));
  for (const { members } of runs) {
    for (const member of members) floats.delete(member);
  }
  const alone = [...floats].map(([name, size]) => ({
    name,
    members: [name],
    size,
  }));
  return [...units, ...alone];
}

/**
 * Where a state lies: an array for each unit, the tensors of a run one after
 * the other. There are two such places, that are read and written in turns;
 * units that are written in place are the same in both.
 */
export class StateMemory {
  /** The array of each tensor and of each run, by name. */
  readonly arrays: ReadonlyMap<string, TensorData>;

  constructor(
    leaves: readonly StateLeaf[],
    { units, arrayOf }: {
      units: readonly (Unit & { size: number })[];
      /** The array of a unit, of its size and all 0. */
      arrayOf: (unit: Unit & { size: number }) => Float32Array;
    },
  ) {
    const arrays = new Map<string, TensorData>();
    const sizes = new Map(
      leaves.map(({ name, leaf }) => [name, sizeOf(leaf.shape)]),
    );
    for (const unit of units) {
      const whole = arrayOf(unit);
      arrays.set(unit.name, whole);
      let offset = 0;
      for (const member of unit.members) {
        const size = sizes.get(member)!;
        arrays.set(member, whole.subarray(offset, offset += size));
      }
    }
    for (const { name, leaf: { shape, dtype } } of leaves) {
      if (dtype === "float32") continue;
      arrays.set(name, allocate({ size: sizeOf(shape), dtype }));
    }
    this.arrays = arrays;
  }
}
