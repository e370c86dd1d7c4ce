import {
  type DType,
  sameShape,
  sizeOf,
  type TensorData,
  type TensorType,
  typeName,
} from "../graph/graph.ts";
import type { StateRun } from "../graph/passes/pack_state.ts";
import type { Unit } from "../loops/stages.ts";
import { isTensor, type Traced, traceFunction } from "../tracing/trace.ts";
import { atItsPlace } from "../tracing/source_line.ts";
import {
  leavesOf,
  type NamedLeaf,
  recordsOf,
  type Tree,
  treeOf,
} from "../tracing/tree.ts";
import { allocate, cut } from "./_ports.ts";

/** A tensor of a state, by the name that it has in a graph. */
export type StateLeaf = NamedLeaf<TensorType>;

/** A function to be compiled, from inputs and a state to results and the next. */
export interface Source {
  /** Declarations of the inputs. */
  readonly types: Tree<TensorType>;
  /** The state at the start: an empty record where there is none. */
  readonly state: unknown;
  /**
   * Traces it for inputs of some shapes: first they come in, then the state.
   * Outputs that have the names of the state are the next one.
   */
  trace(inputs: Tree<TensorType>): Traced;
  call(state: unknown, inputs: unknown): { state: unknown; results: unknown };
}

/** Lists the tensors of a state, by the names that they have in a graph. */
export function stateLeaves(state: unknown): StateLeaf[] {
  return leavesOf(state, isTensor).map(({ name, path, leaf }) => ({
    name: `state.${name}`,
    path,
    leaf: { shape: leaf.shape, dtype: leaf.dtype as TensorType["dtype"] },
  }));
}

/** A vector of a state in one array: a run of tensors, or a tensor alone. */
export interface StateUnit extends Unit {
  readonly size: number;
  readonly dtype: DType;
}

/** Returns the units of a state. */
export function unitsOf(
  leaves: readonly StateLeaf[],
  runs: readonly StateRun[],
): StateUnit[] {
  const inRuns = new Set(runs.flatMap(({ members }) => members));
  const alone = leaves.filter(({ name }) => !inRuns.has(name))
    .map(({ name }) => ({ name, members: [name] }));
  const byName = new Map(leaves.map(({ name, leaf }) => [name, leaf]));
  return [...runs, ...alone].map(({ name, members }) => {
    const tensors = members.map((member) => byName.get(member)!);
    const size = tensors.reduce((sum, { shape }) => sum + sizeOf(shape), 0);
    return { name, members, size, dtype: tensors[0].dtype };
  });
}

/**
 * Memory of a state, by the names of tensors and runs: an array for each unit,
 * the tensors of a run one after the other. There are two such memories that
 * are read and written in turns; units that are written in place are the same
 * in both.
 */
export type StateMemory = ReadonlyMap<string, TensorData>;

/**
 * Makes the memory of a state.
 *
 * @param leaves The tensors of the state.
 * @param options Its units, and a function that makes the array of a unit, of
 * its size and all 0.
 */
export function stateMemory(
  leaves: readonly StateLeaf[],
  { units, arrayOf }: {
    units: readonly StateUnit[];
    arrayOf: (unit: StateUnit) => TensorData;
  },
): StateMemory {
  const arrays = new Map<string, TensorData>();
  const sizes = new Map(
    leaves.map(({ name, leaf }) => [name, sizeOf(leaf.shape)]),
  );
  for (const unit of units) {
    const whole = arrayOf(unit);
    arrays.set(unit.name, whole);
    const { members } = unit;
    cut(whole, members.map((member) => sizes.get(member)!))
      .forEach((part, i) => arrays.set(members[i], part));
  }
  return arrays;
}

/** A tensor of a state as it is saved. */
export interface SavedState {
  readonly data: TensorData;
  readonly shape: number[];
}

/**
 * Checks that the new state has the tensors of the old one.
 *
 * @param made The tensors that were returned, by name.
 * @param leaves The old state.
 * @param action Action that fails otherwise, for the message.
 */
function checkNewState(
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
 * Returns the arrays of a saved state, or of a part of one, by the names of the leaves.
 *
 * @throws {TypeError} If an array is of another type.
 * @throws {RangeError} If a tensor is missing, unknown or of another shape.
 */
export function checkSaved(
  state: unknown,
  leaves: readonly StateLeaf[],
  isPart: boolean,
): ReadonlyMap<string, TensorData> {
  const saved = new Map(
    leavesOf(state, isSaved).map(({ name, leaf }) => [`state.${name}`, leaf]),
  );
  const arrays = new Map<string, TensorData>();
  for (const { name, leaf } of leaves) {
    const it = saved.get(name);
    if (it === undefined) {
      if (isPart) continue;
      throw new RangeError(`Cannot write a state without '${name}'`);
    }
    saved.delete(name);
    checkTensor(it, { name, leaf });
    arrays.set(name, it.data);
  }
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

/** A function from a state and inputs to the next state and results. */
export type StepFunction = (
  state: unknown,
  inputs: unknown,
) => { state: unknown };

/** Makes the source of a step, which keeps the names and types of its state. */
export function stepSource(
  fn: StepFunction,
  { types, state, name }: Pick<Source, "types" | "state"> & { name: string },
): Source {
  const leaves = stateLeaves(state);
  const declared = treeOf(leaves, recordsOf(state));
  return {
    types,
    state,
    trace: (inputs) => {
      const { graph, outputPaths, outputRecords } = traceFunction(
        (all) => {
          const { state, inputs } = all as Record<string, unknown>;
          return fn(state ?? {}, inputs ?? {});
        },
        { inputs, state: declared },
        `compile ${name}`,
      );
      const made = graph.outputs.map(({ name, value }) =>
        [name, value] as const
      );
      checkNewState(new Map(made), leaves, `compile ${name}`);
      const { state: _, ...records } = outputRecords;
      return { graph, outputPaths, outputRecords: records };
    },
    call: (before, inputs) => {
      const { state, ...results } = atItsPlace(
        `run ${name}`,
        () => fn(before, inputs),
      );
      const made = stateLeaves(state).map(({ name, leaf }) =>
        [name, leaf] as const
      );
      checkNewState(new Map(made), leaves, `run ${name}`);
      return { state, results };
    },
  };
}
