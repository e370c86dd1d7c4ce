import type { Graph, TensorData } from "../graph/graph.ts";
import { optimize } from "../graph/passes/optimize.ts";
import { packState, type StateRun } from "../graph/passes/pack_state.ts";
import {
  findInPlace,
  findStages,
  type Staged,
  unstaged,
} from "../loops/stages.ts";
import { isTensor, type Traced } from "../tracing/trace.ts";
import { leavesOf, recordsOf, type Tree, treeOf } from "../tracing/tree.ts";
import {
  InputReader,
  type OtherShapes,
  variants,
  withShapes,
} from "./_inputs.ts";
import { type Settings, threadsFor } from "./options.ts";
import { allocate, toPort } from "./_program.ts";
import {
  Arena,
  scratchSpace,
  spaceFor,
  StagedProgram,
} from "./_staged_program.ts";
import {
  checkSaved,
  type SavedState,
  type Source,
  type StateLeaf,
  stateLeaves,
  type StateMemory,
  stateMemory,
  type StateUnit,
  unitsOf,
} from "./_state.ts";

/** The function, compiled for inputs of one set of shapes. */
interface Variant {
  readonly graph: Graph;
  readonly results: Tree<TensorData>;
  /** For each of the two places: from that one into the other. */
  readonly steps: readonly [Step, Step];
}

type Step = (given: readonly TensorData[]) => void;

/** True where two arrays of one size are the same memory. */
function sameMemory(a: TensorData, b: TensorData): boolean {
  return a.buffer === b.buffer && a.byteOffset === b.byteOffset;
}

/** A function that ONNX Runtime runs, over a state in two places. */
export class OnnxFunction {
  readonly engine = "onnx";
  readonly #leaves: readonly StateLeaf[];
  /** The records of the state, of which some may be empty. */
  readonly #records: Tree<never>;
  readonly #reader: InputReader;
  readonly #settings: Settings;
  readonly #variantFor: (others: OtherShapes | undefined) => Variant;
  #runs: readonly StateRun[] = [];
  /** Units of the state that are in one place alone. */
  #inPlace: ReadonlySet<string> = new Set();
  #arena: Arena | undefined;
  /** End of the state in the arena. */
  #stateEnd = 0;
  #memory!: readonly [StateMemory, StateMemory];
  #trees!: readonly [Tree<TensorData>, Tree<TensorData>];
  #present: 0 | 1 = 0;

  constructor(source: Source, settings: Settings) {
    const { types, state } = source;
    this.#settings = settings;
    this.#leaves = stateLeaves(state);
    this.#records = recordsOf(state);
    this.#variantFor = this.#variantsOf(source);
    this.#reader = new InputReader(types, settings);
    leavesOf(state, isTensor).forEach(({ leaf }, i) =>
      this.#array(this.#leaves[i].name).set(leaf.dataSync())
    );
  }

  #variantsOf(source: Source): (others: OtherShapes | undefined) => Variant {
    const variantFor = variants((others) => {
      const traced = source.trace(withShapes(source.types, others));
      return this.#compile(traced, this.#settings.threads);
    }, this.#settings);
    // Compiled now: what cannot be is an error here and not at the first run.
    variantFor(undefined);
    return variantFor;
  }

  #compile(traced: Traced, threads: Settings["threads"]): Variant {
    const names = new Set(this.#leaves.map(({ name }) => name));
    const optimized = optimize(traced.graph);
    const packed = packState(optimized, names);
    // The state lies as the first program has it: others may not know how.
    const fits = this.#memory === undefined ||
      JSON.stringify(packed.runs) === JSON.stringify(this.#runs);
    const runs = fits ? packed.runs : [];
    const { graph, passed } = this.#withoutPassed(
      fits ? packed.graph : optimized,
      runs,
    );
    const resident = new Set([...names, ...runs.map(({ name }) => name)]);
    const staged = resident.size === 0
      ? unstaged(graph)
      : findStages(graph, resident);
    const units = unitsOf(this.#leaves, runs);
    const inPlace = findInPlace(graph, { staged, units }).union(passed);
    if (this.#memory === undefined) {
      this.#runs = runs;
      this.#layOut(units, { staged, inPlace });
    }
    const fitsMemory = this.#hasRoomFor(staged) &&
      [...this.#inPlace].every((name) => inPlace.has(name));
    return this.#variant(traced, {
      graph,
      isStaged: fitsMemory,
      program: new StagedProgram(graph, {
        staged: fitsMemory ? staged : unstaged(graph),
        threads: threadsFor(graph, threads),
        arena: this.#arena,
      }),
    });
  }

  /**
   * Drops the outputs of tensors that stay as they are, where they lie in one
   * place: large ones need not be copied at each run.
   */
  #withoutPassed(
    graph: Graph,
    runs: readonly StateRun[],
  ): { graph: Graph; passed: ReadonlySet<string> } {
    const inRuns = new Set(runs.flatMap(({ members }) => members));
    const alone = new Set(
      this.#leaves.map(({ name }) => name)
        .filter((name) => !inRuns.has(name))
        .filter((name) => !this.#memory || this.#inPlace.has(name)),
    );
    const passes = ({ name, value }: Graph["outputs"][number]) =>
      alone.has(name) &&
      graph.inputs.some((it) => it.name === name && it.value === value);
    const outputs = graph.outputs.filter((it) => !passes(it));
    const passed = graph.outputs.filter(passes).map(({ name }) => name);
    return { graph: { ...graph, outputs }, passed: new Set(passed) };
  }

  /** True where the arena has room for the loops, beside the state. */
  #hasRoomFor(staged: Staged): boolean {
    const hasLoops = staged.stages.some(({ kind }) => kind === "loop");
    if (this.#arena === undefined) return !hasLoops;
    this.#arena.reset(this.#stateEnd);
    return this.#stateEnd + scratchSpace(staged) <= this.#arena.size;
  }

  #layOut(
    units: readonly StateUnit[],
    { staged, inPlace }: { staged: Staged; inPlace: ReadonlySet<string> },
  ): void {
    const hasLoops = staged.stages.some(({ kind }) => kind === "loop");
    const space = units.reduce((sum, { size }) => sum + 2 * spaceFor(size), 0);
    this.#arena = hasLoops ? Arena.of(space + scratchSpace(staged)) : undefined;
    this.#inPlace = inPlace;
    const take = (unit: StateUnit) =>
      unit.dtype === "float32" && this.#arena !== undefined
        ? this.#arena.take(unit.size)
        : allocate(unit);
    const leaves = this.#leaves;
    const one = stateMemory(leaves, { units, arrayOf: take });
    const other = stateMemory(leaves, {
      units,
      arrayOf: (unit) =>
        this.#inPlace.has(unit.name) ? one.get(unit.name)! : take(unit),
    });
    this.#memory = [one, other];
    this.#stateEnd = this.#arena?.used ?? 0;
    this.#trees = [this.#treeOver(one), this.#treeOver(other)];
  }

  #treeOver(arrays: StateMemory): Tree<TensorData> {
    return treeOf(
      this.#leaves.map(({ name, path }) => ({
        path,
        leaf: arrays.get(name)!,
      })),
      this.#records,
    );
  }

  #variant(
    { outputPaths, outputRecords }: Traced,
    { graph, isStaged, program }: {
      graph: Graph;
      /** True where it reads all that it writes over before. */
      isStaged: boolean;
      program: StagedProgram;
    },
  ): Variant {
    const [one, other] = this.#memory;
    const ports = graph.outputs.map(toPort);
    const own = ports.filter(({ name }) => !one.has(name));
    const arrays = new Map(own.map((port) => [port.name, allocate(port)]));
    const results = outputPaths
      .map((path) => ({ path, leaf: arrays.get(path.join("."))! }))
      .filter(({ leaf }) => leaf !== undefined);
    const aside = isStaged ? [] : ports
      .filter(({ name }) => one.has(name))
      .filter(({ name }) => sameMemory(one.get(name)!, other.get(name)!)).map((
        port,
      ) => [port.name, allocate(port)] as const);
    const step = (from: StateMemory, to: StateMemory): Step => {
      const run = program.bind({
        inputs: from,
        outputs: new Map([...to, ...arrays, ...aside]),
      });
      if (aside.length === 0) return run;
      return (given) => {
        run(given);
        for (const [name, array] of aside) to.get(name)!.set(array);
      };
    };
    return {
      graph,
      results: treeOf(results, outputRecords),
      steps: [step(one, other), step(other, one)],
    };
  }

  get graph(): Graph {
    return this.#variantFor(undefined).graph;
  }

  get state(): Tree<TensorData> {
    return this.#trees[this.#present];
  }

  run(given: unknown): Tree<TensorData> {
    return this.#run(this.#variantFor, given);
  }

  /** Compiles another function of the same state and inputs. */
  beside(source: Source): { run(given: unknown): Tree<TensorData> } {
    const variantFor = this.#variantsOf(source);
    return { run: (given) => this.#run(variantFor, given) };
  }

  #run(
    variantFor: (others: OtherShapes | undefined) => Variant,
    given: unknown,
  ): Tree<TensorData> {
    const arrays = this.#reader.read(given);
    const variant = variantFor(this.#reader.otherShapes);
    variant.steps[this.#present](arrays);
    this.#present = this.#present === 0 ? 1 : 0;
    return variant.results;
  }

  #array(name: string): TensorData {
    return this.#memory[this.#present].get(name)!;
  }

  read(): Tree<SavedState> {
    const saved = this.#leaves.map(({ name, path, leaf }) => ({
      path,
      leaf: { data: this.#array(name).slice(), shape: [...leaf.shape] },
    }));
    return treeOf(saved, this.#records);
  }

  write(state: unknown, isPart = false): void {
    const saved = checkSaved(state, this.#leaves, isPart);
    for (const [name, data] of saved) this.#array(name).set(data);
  }

  writePart(part: unknown): void {
    this.write(part, true);
  }

  close(): void {
    // Arrays and native objects are freed with the last that uses them.
  }
}
