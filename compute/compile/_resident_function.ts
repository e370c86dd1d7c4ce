import type { Graph, TensorData } from "../graph/graph.ts";
import { isTensor } from "../tracing/trace.ts";
import { leavesOf, recordsOf, type Tree, treeOf } from "../tracing/tree.ts";
import {
  InputReader,
  type OtherShapes,
  variants,
  withShapes,
} from "./_inputs.ts";
import type { EngineName, Settings } from "./options.ts";
import {
  checkSaved,
  type SavedState,
  type Source,
  type StateLeaf,
  stateLeaves,
  type StateMemory,
} from "./_state.ts";

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
export class ResidentFunction {
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
