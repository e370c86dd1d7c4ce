import type { Graph, TensorData, TensorType } from "../graph/graph.ts";
import { optimize } from "../graph/optimize.ts";
import { packState, type StateRun } from "../graph/passes/pack_state.ts";
import { findStages, type Staged, unstaged } from "../loops/stages.ts";
import { isTensor, type Traced } from "../tracing/trace.ts";
import { leavesOf, recordsOf, type Tree, treeOf } from "../tracing/tree.ts";
import { InputReader, type OtherShapes } from "./_inputs.ts";
import { Arena, spaceFor } from "./_arena.ts";
import { allocate, toPort } from "./_program.ts";
import type { Settings } from "./_settings.ts";
import { withShapes } from "./_shapes.ts";
import { checkNewState, checkSaved, type SavedState } from "./_state_checks.ts";
import { scratchSpace, StagedProgram } from "./_staged_program.ts";
import {
  type StateLeaf,
  stateLeaves,
  StateMemory,
  stateSize,
} from "./_state_memory.ts";
import { threadsFor } from "./_threads.ts";
import { type StepFunction, traceStep } from "./_step_function.ts";
import { Variants } from "./_variants.ts";

/** What is run for inputs of one set of shapes. */
interface Variant {
  readonly graph: Graph;
  readonly results: Tree<TensorData>;
  /** For each of the two places: from that one into the other. */
  readonly steps: readonly [Step, Step];
}

type Step = (given: readonly TensorData[]) => void;

/** A step that ONNX Runtime takes, over a state in two places. */
export class OnnxStep {
  readonly engine = "onnx";
  readonly #leaves: readonly StateLeaf[];
  /** The records of the state, of which some may be empty. */
  readonly #records: Tree<never>;
  readonly #reader: InputReader;
  readonly #variants: Variants<Variant>;
  #runs: readonly StateRun[] = [];
  #arena: Arena | undefined;
  /** How much of the arena the state takes. */
  #stateEnd = 0;
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
    // The state lies as the first program has it: others may not know how.
    const fits = this.#memory === undefined ||
      JSON.stringify(packed.runs) === JSON.stringify(this.#runs);
    const graph = fits ? packed.graph : optimized;
    const runs = fits ? packed.runs : [];
    const staged = findStages(
      graph,
      new Set([...names, ...runs.map(({ name }) => name)]),
    );
    if (this.#memory === undefined) this.#layOut(runs, staged);
    return this.#variant(traced, {
      graph,
      program: new StagedProgram(graph, {
        staged: this.#hasRoomFor(staged) ? staged : unstaged(graph),
        threads: threadsFor(graph, settings.threads),
        arena: this.#arena,
      }),
    });
  }

  /** Loops work on the arena; what is beside the state is used by all. */
  #hasRoomFor(staged: Staged): boolean {
    if (this.#arena === undefined) return false;
    this.#arena.reset(this.#stateEnd);
    return this.#stateEnd + scratchSpace(staged) <= this.#arena.size;
  }

  #layOut(runs: readonly StateRun[], staged: Staged): void {
    this.#runs = runs;
    const hasLoops = staged.stages.some(({ kind }) => kind === "loop");
    const space = 2 * spaceFor(stateSize(this.#leaves)) + scratchSpace(staged);
    this.#arena = hasLoops ? Arena.of(space) : undefined;
    const take = (size: number) =>
      this.#arena?.take(size) ?? new Float32Array(size);
    const place = () => new StateMemory(this.#leaves, { runs, take });
    const tree = ({ arrays }: StateMemory) =>
      treeOf(
        this.#leaves.map(({ name, path }) => ({
          path,
          leaf: arrays.get(name)!,
        })),
        this.#records,
      );
    this.#memory = [place(), place()];
    this.#stateEnd = this.#arena?.used ?? 0;
    this.#trees = [tree(this.#memory[0]), tree(this.#memory[1])];
  }

  #variant(
    { outputPaths, outputRecords }: Traced,
    { graph, program }: { graph: Graph; program: StagedProgram },
  ): Variant {
    const [one, other] = this.#memory;
    const own = graph.outputs.map(toPort)
      .filter(({ name }) => !one.arrays.has(name));
    const arrays = new Map(own.map((port) => [port.name, allocate(port)]));
    const results = outputPaths
      .map((path) => ({ path, leaf: arrays.get(path.join("."))! }))
      .filter(({ leaf }) => leaf !== undefined);
    const { state: _, ...records } = outputRecords;
    const step = (from: StateMemory, to: StateMemory) =>
      program.bind({
        inputs: from.arrays,
        outputs: new Map([...to.arrays, ...arrays]),
      });
    return {
      graph,
      results: treeOf(results, records),
      steps: [step(one, other), step(other, one)],
    };
  }

  get graph(): Graph {
    return this.#variants.get(undefined).graph;
  }

  get state(): Tree<TensorData> {
    return this.#trees[this.#present];
  }

  run(given: unknown): Tree<TensorData> {
    const arrays = this.#reader.read(given);
    const variant = this.#variants.get(this.#reader.otherShapes);
    variant.steps[this.#present](arrays);
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
