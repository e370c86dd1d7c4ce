import type { Graph, TensorData } from "../graph/graph.ts";
import { optimize } from "../graph/passes/optimize.ts";
import { packState, type StateRun } from "../graph/passes/pack_state.ts";
import {
  findInPlace,
  findStages,
  type Staged,
  unstaged,
} from "../loops/stages.ts";
import { type Settings, threadsFor } from "./options.ts";
import { allocate, toPort } from "./_ports.ts";
import type { ResidentEngine, Variant } from "./_resident_function.ts";
import {
  Arena,
  scratchSpace,
  spaceFor,
  StagedProgram,
} from "./_staged_program.ts";
import {
  type StateLeaf,
  type StateMemory,
  stateMemory,
  type StateUnit,
  unitsOf,
} from "./_state.ts";

/** True where two arrays of one size are the same memory. */
function sameMemory(a: TensorData, b: TensorData): boolean {
  return a.buffer === b.buffer && a.byteOffset === b.byteOffset;
}

/** ONNX Runtime over a state in two places: each run goes from one to the other. */
export class OnnxEngine implements ResidentEngine {
  readonly #leaves: readonly StateLeaf[];
  readonly #threads: Settings["threads"];
  #runs: readonly StateRun[] = [];
  /** Units of the state that are in one place alone. */
  #inPlace: ReadonlySet<string> = new Set();
  #arena: Arena | undefined;
  /** End of the state in the arena. */
  #stateEnd = 0;
  #memory!: readonly [StateMemory, StateMemory];
  #present: 0 | 1 = 0;

  constructor(leaves: readonly StateLeaf[], { threads }: Settings) {
    this.#leaves = leaves;
    this.#threads = threads;
  }

  compile(traced: Graph): Variant {
    const names = new Set(this.#leaves.map(({ name }) => name));
    const isFirst = this.#memory === undefined;
    // The state lies in memory as the first program has it.
    const packed = packState(
      optimize(traced),
      names,
      isFirst ? undefined : this.#runs,
    );
    if (isFirst) this.#runs = packed.runs;
    const units = unitsOf(this.#leaves, this.#runs);
    const { graph, passed } = this.#withoutPassed(packed.graph, units);
    const resident = new Set([
      ...names,
      ...packed.runs.map(({ name }) => name),
    ]);
    const staged = resident.size === 0
      ? unstaged(graph)
      : findStages(graph, resident);
    const inPlace = findInPlace(graph, { staged, units }).union(passed);
    if (isFirst) this.#layOut(units, { staged, inPlace });
    const fitsMemory = this.#hasRoomFor(staged) &&
      [...this.#inPlace].every((name) => inPlace.has(name));
    return this.#variant({
      graph,
      isStaged: fitsMemory,
      program: new StagedProgram(graph, {
        staged: fitsMemory ? staged : unstaged(graph),
        threads: threadsFor(graph, this.#threads),
        arena: this.#arena,
      }),
    });
  }

  /**
   * Drops the outputs of units that stay as they are, where they lie in one
   * place: large ones need not be copied at each run.
   */
  #withoutPassed(
    graph: Graph,
    units: readonly StateUnit[],
  ): { graph: Graph; passed: ReadonlySet<string> } {
    const inputs = new Map(graph.inputs.map((it) => [it.name, it.value]));
    const outputs = new Map(graph.outputs.map((it) => [it.name, it.value]));
    const mayLieAlone = ({ name, members }: StateUnit) =>
      this.#memory ? this.#inPlace.has(name) : members.includes(name);
    const passed = units.filter(mayLieAlone).filter(({ members }) =>
      members.every((it) =>
        outputs.has(it) && outputs.get(it) === inputs.get(it)
      )
    );
    const dropped = new Set(passed.flatMap(({ members }) => members));
    return {
      graph: {
        ...graph,
        outputs: graph.outputs.filter(({ name }) => !dropped.has(name)),
      },
      passed: new Set(passed.map(({ name }) => name)),
    };
  }

  /** True where the arena has room for the loops, in addition to the state. */
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
  }

  #variant(
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
    const results = new Map(own.map((port) => [port.name, allocate(port)]));
    const aside = isStaged ? [] : ports
      .filter(({ name }) => one.has(name))
      .filter(({ name }) => sameMemory(one.get(name)!, other.get(name)!)).map((
        port,
      ) => [port.name, allocate(port)] as const);
    const step = (from: StateMemory, to: StateMemory): Variant["run"] => {
      const run = program.bind({
        inputs: from,
        outputs: new Map([...to, ...results, ...aside]),
      });
      if (aside.length === 0) return run;
      return (given) => {
        run(given);
        for (const [name, array] of aside) to.get(name)!.set(array);
      };
    };
    const steps = [step(one, other), step(other, one)];
    return {
      graph,
      results,
      run: (given) => {
        steps[this.#present](given);
        this.#present = this.#present === 0 ? 1 : 0;
      },
    };
  }

  pull(): StateMemory {
    return this.#memory[this.#present];
  }

  push(): void {
    // The arrays themselves are the state.
  }
}
