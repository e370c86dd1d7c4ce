import type { Graph, TensorData, TensorType } from "../graph/graph.ts";
import { optimize } from "../graph/optimize.ts";
import { packState, type StateRun } from "../graph/passes/pack_state.ts";
import { isTensor, type Traced } from "../tracing/trace.ts";
import { leavesOf, recordsOf, type Tree, treeOf } from "../tracing/tree.ts";
import { InputReader, type OtherShapes } from "./_inputs.ts";
import { allocate, Program } from "./_program.ts";
import type { Settings } from "./_settings.ts";
import { withShapes } from "./_shapes.ts";
import { checkNewState, checkSaved, type SavedState } from "./_state_checks.ts";
import { type StateLeaf, stateLeaves, StateMemory } from "./_state_memory.ts";
import { type StepFunction, traceStep } from "./_step_function.ts";
import { Variants } from "./_variants.ts";

/** A program and where its results are put. */
interface Variant {
  readonly program: Program;
  readonly results: Tree<TensorData>;
  /** For each of the two places: what is read and what is written. */
  readonly ports: readonly [PortArrays, PortArrays];
}

/** The arrays of a program's ports; inputs of the caller are put in. */
interface PortArrays {
  readonly inputs: TensorData[];
  readonly outputs: readonly TensorData[];
}

/** A step that ONNX Runtime takes, over a state in two places. */
export class OnnxStep {
  readonly engine = "onnx";
  readonly #leaves: readonly StateLeaf[];
  /** The records of the state, of which some may be empty. */
  readonly #records: Tree<never>;
  readonly #reader: InputReader;
  readonly #variants: Variants<Variant>;
  #runs: readonly StateRun[] = [];
  #memory!: readonly [StateMemory, StateMemory];
  #trees!: readonly [Tree<TensorData>, Tree<TensorData>];
  #present: 0 | 1 = 0;

  constructor(
    fn: StepFunction,
    { state, types, settings }: {
      state: unknown;
      types: Tree<TensorType>;
      settings: Settings;
    },
  ) {
    this.#leaves = stateLeaves(state);
    this.#records = recordsOf(state);
    this.#variants = new Variants(
      (others) => this.#compile(fn, { types, others, settings }),
      settings,
    );
    this.#reader = new InputReader(types, settings);
    this.#variants.get(undefined);
    leavesOf(state, isTensor).forEach(({ leaf }, i) =>
      this.#array(this.#leaves[i].name).set(leaf.dataSync())
    );
  }

  #compile(
    fn: StepFunction,
    { types, others, settings }: {
      types: Tree<TensorType>;
      others: OtherShapes | undefined;
      settings: Settings;
    },
  ): Variant {
    const state = treeOf(this.#leaves, this.#records);
    const inputs = withShapes(types, others);
    const traced = traceStep(fn, { inputs, state });
    const { outputs } = traced.graph;
    const made = new Map(outputs.map(({ name, value }) => [name, value]));
    checkNewState(made, this.#leaves, `compile ${settings.name}`);
    const names = new Set(this.#leaves.map(({ name }) => name));
    const optimized = optimize(traced.graph);
    const packed = packState(optimized, names);
    if (this.#memory === undefined) this.#layOut(packed.runs);
    // The state lies as the first program has it: others may not know how.
    const fits = JSON.stringify(packed.runs) === JSON.stringify(this.#runs);
    const program = new Program(
      fits ? packed.graph : optimized,
      settings.threads,
    );
    return this.#variant(program, traced);
  }

  #layOut(runs: readonly StateRun[]): void {
    this.#runs = runs;
    const place = () => new StateMemory(this.#leaves, runs);
    const tree = ({ arrays }: StateMemory) =>
      treeOf(
        this.#leaves.map(({ name, path }) => ({
          path,
          leaf: arrays.get(name)!,
        })),
        this.#records,
      );
    this.#memory = [place(), place()];
    this.#trees = [tree(this.#memory[0]), tree(this.#memory[1])];
  }

  #variant(
    program: Program,
    { outputPaths, outputRecords }: Traced,
  ): Variant {
    const [one, other] = this.#memory;
    const own = program.outputs.filter(({ name }) => !one.arrays.has(name));
    const arrays = new Map(own.map((port) => [port.name, allocate(port)]));
    const results = outputPaths
      .map((path) => ({ path, leaf: arrays.get(path.join("."))! }))
      .filter(({ leaf }) => leaf !== undefined);
    const { state: _, ...records } = outputRecords;
    const ports = (from: StateMemory, to: StateMemory): PortArrays => ({
      // Inputs of the caller come later: an empty array stands for them.
      inputs: program.inputs
        .map(({ name }) => from.arrays.get(name) ?? new Float32Array()),
      outputs: program.outputs
        .map(({ name }) => to.arrays.get(name) ?? arrays.get(name)!),
    });
    return {
      program,
      results: treeOf(results, records),
      ports: [ports(one, other), ports(other, one)],
    };
  }

  get graph(): Graph {
    return this.#variants.get(undefined).program.graph;
  }

  get state(): Tree<TensorData> {
    return this.#trees[this.#present];
  }

  run(given: unknown): Tree<TensorData> {
    const arrays = this.#reader.read(given);
    const variant = this.#variants.get(this.#reader.otherShapes);
    const { inputs, outputs } = variant.ports[this.#present];
    for (let i = 0; i < arrays.length; i++) inputs[i] = arrays[i];
    variant.program.run(inputs, outputs);
    this.#present = this.#present === 0 ? 1 : 0;
    return variant.results;
  }

  #array(name: string): TensorData {
    return this.#memory[this.#present].arrays.get(name)!;
  }

  read(): Tree<SavedState> {
    const saved = this.#leaves.map(({ name, path, leaf }) => ({
      path,
      leaf: { data: this.#array(name).slice(), shape: [...leaf.shape] },
    }));
    return treeOf(saved, this.#records);
  }

  write(state: unknown): void {
    const saved = checkSaved(state, this.#leaves);
    saved.forEach((data, i) => this.#array(this.#leaves[i].name).set(data));
  }

  close(): void {
    // Arrays and native objects are freed with the last that uses them.
  }
}
