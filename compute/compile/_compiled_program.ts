import * as tf from "@tensorflow/tfjs";
import { typoOf } from "@bellman/files/options";
import {
  ARRAYS,
  type DType,
  type Graph,
  sameShape,
  sizeOf,
  type TensorData,
  type TensorType,
  typeName,
} from "../graph/graph.ts";
import type { StateRun } from "../graph/passes/pack_state.ts";
import type { Unit } from "../loops/cut_graph.ts";
import { isTensor, type Traced } from "../tracing/trace.ts";
import {
  declarationsOf,
  isTypeLeaf,
  leavesOf,
  mapLeaves,
  type NamedLeaf,
  recordsOf,
  type Tree,
  treeOf,
} from "../tracing/tree.ts";
import type { EngineName, Settings } from "./options.ts";

/** A tensor of a program: its name, shape and type. */
export interface Port {
  readonly name: string;
  readonly shape: readonly number[];
  readonly dtype: DType;
  readonly size: number;
}

/** Makes the port of a named tensor. */
export function toPort(
  { name, value }: {
    name: string;
    value: { shape: readonly number[]; dtype: DType };
  },
): Port {
  const { shape, dtype } = value;
  return { name, shape, dtype, size: sizeOf(shape) };
}

/** Makes an array for the numbers of a tensor, all 0. */
export function allocate(
  { size, dtype }: Pick<Port, "size" | "dtype">,
): TensorData {
  return new ARRAYS[dtype](size);
}

/** Cuts an array into parts of some sizes, which share its memory. */
export function cut(
  whole: TensorData,
  sizes: readonly number[],
): TensorData[] {
  let offset = 0;
  return sizes.map((size) => whole.subarray(offset, offset += size));
}

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

/** Shapes of inputs that are not the declared ones, by name. */
export type OtherShapes = ReadonlyMap<string, readonly number[]>;

/** Takes what a caller gives apart into one array for each input. */
export class InputReader {
  /** The inputs as they were declared. */
  readonly declared: readonly NamedLeaf<TensorType>[];
  readonly #ports: readonly Port[];
  readonly #function: string;
  readonly #readsTensors: boolean;
  readonly #arrays: TensorData[];
  /** Arrays that were found to fit: they need no second look. */
  readonly #known: unknown[] = [];
  /** Arrays for numbers that come without one. */
  readonly #scratch: (TensorData | undefined)[];
  #others: Map<string, readonly number[]> | undefined;

  /**
   * @param types Declarations of the inputs.
   * @param options The function's name, and whether the numbers of tensors are
   * read; otherwise they are only checked, and replaced by an empty array.
   */
  constructor(
    types: Tree<TensorType>,
    { name, readsTensors = true }: { name: string; readsTensors?: boolean },
  ) {
    this.declared = declarationsOf(types);
    this.#ports = this.declared.map(({ name, leaf }) =>
      toPort({ name, value: leaf })
    );
    this.#function = name;
    this.#readsTensors = readsTensors;
    this.#arrays = this.#ports.map(allocate);
    this.#scratch = this.#ports.map(() => undefined);
  }

  /** Shapes other than the declared ones, of the last inputs that were read. */
  get otherShapes(): OtherShapes | undefined {
    return this.#others;
  }

  /**
   * Reads the arrays in the order of the inputs, into a list that is used
   * again.
   *
   * @throws {TypeError} If an input is missing or of another type.
   * @throws {RangeError} If an array has another size.
   */
  read(inputs: unknown): readonly TensorData[] {
    this.#others = undefined;
    const arrays = this.#arrays;
    for (let i = 0; i < arrays.length; i++) {
      let value = inputs;
      const { path } = this.declared[i];
      for (let k = 0; k < path.length; k++) {
        value = (value as Record<string, unknown> | undefined)?.[path[k]];
      }
      if (value === this.#known[i] && value !== undefined) {
        arrays[i] = value as TensorData;
      } else arrays[i] = this.#arrayOf(value, i, inputs);
    }
    return arrays;
  }

  #arrayOf(value: unknown, i: number, inputs: unknown): TensorData {
    const port = this.#ports[i];
    if (ArrayBuffer.isView(value)) {
      const data = this.#checked(value, port);
      this.#known[i] = data;
      return data;
    }
    if (typeof value === "number") return this.#number(value, i);
    if (value instanceof tf.Tensor) {
      return this.#tensor(value, port);
    }
    const given = value as { data?: unknown; shape?: readonly number[] } | null;
    if (ArrayBuffer.isView(given?.data) && Array.isArray(given.shape)) {
      this.#note(port, given.shape);
      const data = this.#checkedType(given.data, port);
      if (data.length === sizeOf(given.shape)) return data;
      throw new RangeError(
        `Cannot run ${this.#function}: input '${port.name}' has ${data.length} numbers for shape [${given.shape}]`,
      );
    }
    throw this.#unusable(value, port, inputs);
  }

  #tensor(tensor: tf.Tensor, port: Port): TensorData {
    this.#note(port, tensor.shape);
    const ArrayType = ARRAYS[tensor.dtype as DType];
    const data = this.#readsTensors || ArrayType === undefined
      ? tensor.dataSync() as TensorData
      : new ArrayType();
    return this.#checkedType(data, port);
  }

  /** Remembers a shape that is not the declared one. */
  #note(port: Port, shape: readonly number[]): void {
    if (sameShape(shape, port.shape)) return;
    this.#others ??= new Map();
    this.#others.set(port.name, [...shape]);
  }

  #checked(value: ArrayBufferView, port: Port): TensorData {
    const data = this.#checkedType(value, port);
    if (data.length === port.size) return data;
    throw new RangeError(
      `Cannot run ${this.#function}: input '${port.name}' has ${data.length} numbers, expected ${
        typeName(port)
      }; another shape is given as { data, shape }`,
    );
  }

  #checkedType(value: ArrayBufferView, port: Port): TensorData {
    const ArrayType = ARRAYS[port.dtype];
    if (value instanceof ArrayType) return value;
    throw new TypeError(
      `Cannot run ${this.#function}: input '${port.name}' is a ${value.constructor.name}, expected ${
        typeName(port)
      } in a ${ArrayType.name}`,
    );
  }

  #number(value: number, i: number): TensorData {
    const port = this.#ports[i];
    if (port.size !== 1) {
      throw new TypeError(
        `Cannot run ${this.#function}: input '${port.name}' is the number ${value}, expected ${
          typeName(port)
        }`,
      );
    }
    const scratch = this.#scratch[i] ??= allocate(port);
    scratch[0] = value;
    if (port.dtype === "float32" || scratch[0] === value) return scratch;
    throw new TypeError(
      `Cannot run ${this.#function}: input '${port.name}' is the number ${value}, which no ${port.dtype} is`,
    );
  }

  #unusable(value: unknown, port: Port, inputs: unknown): TypeError {
    const expected = typeName(port);
    if (value !== undefined) {
      return new TypeError(
        `Cannot run ${this.#function}: input '${port.name}' is no tensor, expected ${expected}`,
      );
    }
    const near = typoOf(port.name, namesIn(inputs));
    const hint = near === undefined ? "" : `; did you mean '${near}'?`;
    return new TypeError(
      `Cannot run ${this.#function} without the input '${port.name}', ${expected}${hint}`,
    );
  }
}

/** Lists the names of all that was given. */
function namesIn(inputs: unknown, prefix = ""): string[] {
  if (typeof inputs !== "object" || inputs === null) return [];
  return Object.entries(inputs).flatMap(([key, value]) => {
    const name = prefix + key;
    const isLeaf = typeof value !== "object" || value === null ||
      ArrayBuffer.isView(value) || value instanceof tf.Tensor ||
      "data" in value;
    return isLeaf ? [name] : namesIn(value, `${name}.`);
  });
}

/** Replaces the shapes of some declarations. */
export function withShapes(
  types: Tree<TensorType>,
  others: OtherShapes | undefined,
): Tree<TensorType> {
  if (others === undefined) return types;
  return mapLeaves(types, isTypeLeaf, ({ shape, dtype }, name) => ({
    dtype,
    shape: others.get(name) ?? shape,
  }));
}

/**
 * Compiles for the declared shapes, and for others as they come.
 *
 * @returns A function that returns what is compiled for shapes, made at their
 * first use; it throws a RangeError if there are too many sets of shapes.
 */
export function variants<T>(
  make: (others: OtherShapes | undefined) => T,
  { name, maxShapes, onNotice }: Settings,
): (others: OtherShapes | undefined) => T {
  const known = new Map<string, T>();
  let declared: T | undefined;
  return (others) => {
    if (others === undefined) return declared ??= make(undefined);
    const shapes = [...others].map(([name, shape]) => `${name} [${shape}]`)
      .join(", ");
    const before = known.get(shapes);
    if (before !== undefined) return before;
    const count = known.size + 2;
    if (count > maxShapes) {
      throw new RangeError(
        `Cannot compile ${name} for ${shapes}: it was compiled for ${
          count - 1
        } sets of shapes already; pad the batch or raise maxShapes`,
      );
    }
    const made = make(others);
    known.set(shapes, made);
    onNotice(
      `Compiled ${name} again for ${shapes} (${count} of at most ${maxShapes} sets of shapes)`,
    );
    return made;
  };
}

/** A function, compiled for inputs of one set of shapes. */
export interface Variant {
  readonly graph: Graph;
  /** Arrays of the outputs in addition to the state, by name; written at each run. */
  readonly results: ReadonlyMap<string, TensorData>;
  /** Computes from an array for each input, and moves the state. */
  run(given: readonly TensorData[]): void;
}

/** Memory of a state, and programs that move it. */
export interface ResidentEngine {
  /** Compiles a function; the first one lays the state out, as suits it. */
  compile(graph: Graph): Variant;
  /** Returns the arrays of the current state, of which a device may have newer numbers. */
  pull(): StateMemory;
  /** Takes over what was written into the arrays of `pull`. */
  push(): void;
}

type VariantFor = (others: OtherShapes | undefined) => Compiled;
/** A variant, and its results as the function returns them. */
type Compiled = Variant & { readonly tree: Tree<TensorData> };

/** A function of a state that an engine holds. */
export class CompiledProgram {
  readonly engine: EngineName;
  readonly #engine: ResidentEngine;
  readonly #leaves: readonly StateLeaf[];
  /** The records of the state, of which some may be empty. */
  readonly #records: Tree<never>;
  readonly #reader: InputReader;
  readonly #settings: Settings;
  readonly #variantFor: VariantFor;
  /** Trees over the memories of the state. */
  readonly #trees = new Map<StateMemory, Tree<TensorData>>();

  constructor(
    source: Source,
    settings: Settings,
    Engine: new (
      leaves: readonly StateLeaf[],
      settings: Settings,
    ) => ResidentEngine,
  ) {
    const { types, state } = source;
    this.engine = settings.engine;
    this.#settings = settings;
    this.#leaves = stateLeaves(state);
    this.#records = recordsOf(state);
    this.#engine = new Engine(this.#leaves, settings);
    this.#variantFor = this.#variantsOf(source);
    this.#reader = new InputReader(types, settings);
    const arrays = this.#engine.pull();
    leavesOf(state, isTensor).forEach(({ leaf }, i) =>
      arrays.get(this.#leaves[i].name)!.set(leaf.dataSync())
    );
  }

  #variantsOf(source: Source): VariantFor {
    const variantFor = variants((others): Compiled => {
      const { graph, outputPaths, outputRecords } = source.trace(
        withShapes(source.types, others),
      );
      const variant = this.#engine.compile(graph);
      const leaves = outputPaths
        .map((path) => ({ path, leaf: variant.results.get(path.join("."))! }))
        .filter(({ leaf }) => leaf !== undefined);
      return { ...variant, tree: treeOf(leaves, outputRecords) };
    }, this.#settings);
    // Compiled now: what cannot be is an error here and not at the first run.
    variantFor(undefined);
    return variantFor;
  }

  get graph(): Graph {
    return this.#variantFor(undefined).graph;
  }

  get state(): Tree<TensorData> {
    const arrays = this.#engine.pull();
    const known = this.#trees.get(arrays);
    if (known !== undefined) return known;
    const tree = this.#treeOf(({ name }) => arrays.get(name)!);
    this.#trees.set(arrays, tree);
    return tree;
  }

  #treeOf<T>(leafOf: (leaf: StateLeaf) => T): Tree<T> {
    const leaves = this.#leaves
      .map((it) => ({ path: it.path, leaf: leafOf(it) }));
    return treeOf(leaves, this.#records);
  }

  run(given: unknown): Tree<TensorData> {
    return this.#run(this.#variantFor, given);
  }

  /** Compiles another function of the same state and inputs. */
  beside(source: Source): { run(given: unknown): Tree<TensorData> } {
    const variantFor = this.#variantsOf(source);
    return { run: (given) => this.#run(variantFor, given) };
  }

  #run(variantFor: VariantFor, given: unknown): Tree<TensorData> {
    const arrays = this.#reader.read(given);
    const variant = variantFor(this.#reader.otherShapes);
    variant.run(arrays);
    return variant.tree;
  }

  read(): Tree<SavedState> {
    const arrays = this.#engine.pull();
    return this.#treeOf(({ name, leaf }) => ({
      data: arrays.get(name)!.slice(),
      shape: [...leaf.shape],
    }));
  }

  write(state: unknown, isPart = false): void {
    const saved = checkSaved(state, this.#leaves, isPart);
    const arrays = this.#engine.pull();
    for (const [name, data] of saved) arrays.get(name)!.set(data);
    this.#engine.push();
  }

  writePart(part: unknown): void {
    this.write(part, true);
  }

  close(): void {
    // Arrays and native objects are freed with the last that uses them.
  }
}
