import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import {
  countUses,
  type Graph,
  type Node,
  numberOf,
  producersOf,
  sizeOf,
  type TensorData,
  type Value,
} from "../graph/graph.ts";
import { optimize } from "../graph/passes/optimize.ts";
import { packState, type StateRun } from "../graph/passes/pack_state.ts";
import { scalarProgram } from "../loops/scalar_program.ts";
import { compileLoop, type Loop } from "../loops/compile_loop.ts";
import {
  findInPlace,
  findStages,
  type Stage,
  type Staged,
  unstaged,
} from "../loops/cut_graph.ts";
import { lowerGraph } from "../lowering/lower.ts";
import { encodeModel } from "../onnx/model_builder.ts";
import {
  type Binding,
  blockSize,
  OnnxSession,
} from "../runtime/onnx_session.ts";
import {
  allocate,
  type Port,
  type ResidentEngine,
  type StateLeaf,
  type StateMemory,
  stateMemory,
  type StateUnit,
  toPort,
  unitsOf,
  type Variant,
} from "./_compiled_program.ts";
import { type Settings, threadsFor } from "./options.ts";

/** Sessions by model and threads: equal functions share one. */
const sessions = new Map<string, WeakRef<OnnxSession>>();

function sessionFor(
  model: Uint8Array<ArrayBuffer>,
  threads: number,
): OnnxSession {
  const key = `${threads}:${bytesToHex(sha256(model))}`;
  const known = sessions.get(key)?.deref();
  if (known !== undefined) return known;
  const session = new OnnxSession(model, { threads });
  sessions.set(key, new WeakRef(session));
  return session;
}

/** Bindings that a program keeps, of those that were made last. */
const MAX_BINDINGS = 8;

/** Arrays that are bound for an input before its numbers are copied instead. */
const MAX_ARRAYS = 32;

/** A graph that ONNX Runtime runs, for inputs of one set of shapes. */
export class OnnxProgram {
  readonly graph: Graph;
  readonly inputs: readonly Port[];
  readonly outputs: readonly Port[];
  readonly threads: number;
  readonly #session: OnnxSession;
  /** Places of the inputs that the graph reads: others are not bound. */
  readonly #used: readonly number[];
  readonly #usedPorts: readonly Port[];
  readonly #given: TensorData[];
  /** The outputs by their names in the model. */
  readonly #outputPorts: readonly Port[];
  #bindings: Binding[] = [];
  /** Number of arrays that were bound for each input. */
  readonly #counts: number[];
  /** The arrays that are bound; those of restless inputs are copies. */
  readonly #bound: TensorData[] = [];
  readonly #copied: number[] = [];

  constructor(graph: Graph, threads: number | "auto") {
    const uses = countUses(graph);
    const used = graph.inputs.filter(({ value }) => uses.has(value));
    const model = lowerGraph({ ...graph, inputs: used }, {
      // Of no use to other graphs, it is found out only for these.
      blockSize: graph.nodes.some(({ op }) => op.includes("Conv2D"))
        ? blockSize()
        : 0,
    });
    this.graph = graph;
    this.#used = used.map((input) => graph.inputs.indexOf(input));
    this.#usedPorts = used.map(toPort);
    this.#given = this.#usedPorts.map(allocate);
    this.threads = threadsFor(graph, threads);
    this.inputs = graph.inputs.map(toPort);
    this.outputs = graph.outputs.map(toPort);
    this.#outputPorts = this.outputs
      .map((port, i) => ({ ...port, name: model.outputs[i].name }));
    this.#counts = used.map(() => 0);
    this.#session = sessionFor(encodeModel(model), this.threads);
  }

  /** Computes from one list of arrays into another, in the order of the ports. */
  run(inputs: readonly TensorData[], outputs: readonly TensorData[]): void {
    const given = this.#given;
    const used = this.#used;
    for (let i = 0; i < used.length; i++) given[i] = inputs[used[i]];
    checkArrays(given, this.#usedPorts);
    checkArrays(outputs, this.outputs);
    const bound = this.#copied.length === 0 ? given : this.#copy(given);
    for (let i = 0; i < this.#bindings.length; i++) {
      if (!holds(this.#bindings[i], bound, outputs)) continue;
      this.#bindings[i].run();
      return;
    }
    this.#bind(given, outputs).run();
  }

  /** Returns the arrays, with the numbers of restless inputs in copies. */
  #copy(inputs: readonly TensorData[]): readonly TensorData[] {
    const bound = this.#bound;
    for (let i = 0; i < inputs.length; i++) {
      if (this.#copied.includes(i)) bound[i].set(inputs[i]);
      else bound[i] = inputs[i];
    }
    return bound;
  }

  /** Binds arrays, instead of the oldest binding where there are many. */
  #bind(
    inputs: readonly TensorData[],
    outputs: readonly TensorData[],
  ): Binding {
    this.#watch(inputs, outputs);
    const bound = this.#copy(inputs);
    const binding = this.#session.bind(
      withArrays(this.#usedPorts, bound),
      withArrays(this.#outputPorts, outputs),
    );
    this.#bindings.push(binding);
    if (this.#bindings.length > MAX_BINDINGS) this.#bindings.shift()!.close();
    return binding;
  }

  /**
   * Notes inputs to be copied from now on: those whose arrays are always new,
   * and those that are written while they are read, as a result may be the next
   * call's input.
   */
  #watch(
    inputs: readonly TensorData[],
    outputs: readonly TensorData[],
  ): void {
    inputs.forEach((array, i) => {
      if (this.#copied.includes(i)) return;
      if (!outputs.some((it) => overlap(it, array))) {
        if (this.#bindings.some(({ arrays }) => arrays[i] === array)) return;
        if (++this.#counts[i] <= MAX_ARRAYS) return;
      }
      this.#copied.push(i);
      this.#bound[i] = allocate(this.#usedPorts[i]);
    });
  }
}

/** Checks that each array still has its memory: native code would go astray. */
function checkArrays(
  arrays: readonly TensorData[],
  ports: readonly Port[],
): void {
  for (let i = 0; i < ports.length; i++) {
    if (arrays[i].length === ports[i].size) continue;
    throw new RangeError(
      `Cannot use the array of '${
        ports[i].name
      }': it was transferred or resized; send a copy instead`,
    );
  }
}

/** True where two arrays share memory. */
function overlap(a: TensorData, b: TensorData): boolean {
  return a.buffer === b.buffer &&
    a.byteOffset < b.byteOffset + b.byteLength &&
    b.byteOffset < a.byteOffset + a.byteLength;
}

/** True where a binding is of these very arrays. */
function holds(
  { arrays }: Binding,
  inputs: readonly TensorData[],
  outputs: readonly TensorData[],
): boolean {
  const n = inputs.length;
  for (let i = 0; i < n; i++) if (arrays[i] !== inputs[i]) return false;
  for (let i = 0; i < outputs.length; i++) {
    if (arrays[n + i] !== outputs[i]) return false;
  }
  return true;
}

function withArrays(ports: readonly Port[], arrays: readonly TensorData[]) {
  return ports.map((port, i) => ({ ...port, data: arrays[i] }));
}

/** Numbers that begin at the same distance from a line of the cache. */
const ALIGNMENT = 16;

const PAGE = 1 << 16;

/** Pages that 32 bits can tell apart. */
const MAX_PAGES = 1 << 16;

/** Returns the numbers of an arena that an array of a size takes. */
export function spaceFor(size: number): number {
  return Math.ceil(size / ALIGNMENT) * ALIGNMENT;
}

/** One piece of memory that arrays are cut from; loops can work on it. */
export class Arena {
  readonly memory: WebAssembly.Memory;
  readonly #all: Float32Array<ArrayBuffer>;
  #used = 0;

  private constructor(memory: WebAssembly.Memory) {
    this.memory = memory;
    this.#all = new Float32Array(memory.buffer as ArrayBuffer);
  }

  /** Makes an arena for some numbers, or nothing where memory has no room. */
  static of(numbers: number): Arena | undefined {
    const pages = Math.ceil(numbers * Float32Array.BYTES_PER_ELEMENT / PAGE);
    if (pages > MAX_PAGES) return undefined;
    try {
      return new Arena(
        new WebAssembly.Memory({ initial: pages, maximum: pages }),
      );
    } catch {
      return undefined;
    }
  }

  /** Numbers that have been given out. */
  get used(): number {
    return this.#used;
  }

  /** Numbers that there is room for. */
  get size(): number {
    return this.#all.length;
  }

  /** Takes back all arrays after the first numbers. */
  reset(used: number): void {
    this.#used = used;
  }

  /** Takes an array of some numbers. */
  take(size: number): Float32Array<ArrayBuffer> {
    const start = this.#used;
    this.#used += spaceFor(size);
    return this.#all.subarray(start, start + size);
  }
}

/** Arrays by the names that a graph has for them. */
type NamedArrays = ReadonlyMap<string, TensorData>;

/** A stage with the arrays that it reads and writes. */
type Step = (given: readonly TensorData[]) => void;

/** Source of a number: an array, or the place of an input of the caller. */
type Source = TensorData | number;

/** Arrays and places that stages are bound to. */
interface Places {
  readonly arrays: Map<Value, TensorData>;
  /** Places of the caller's inputs. */
  readonly given: ReadonlyMap<Value, number>;
  readonly outputs: NamedArrays;
}

/** Returns the values that stages hand over and that are no part of others. */
function placed({ crossing, joined }: Staged): Set<Value> {
  const parts = new Set(joined.flatMap((it) => it.parts));
  const values = [...joined.map(({ whole }) => whole), ...crossing.keys()];
  return new Set(values.filter((value) => !parts.has(value)));
}

/** Counts the numbers of an arena that the stages need in addition to the state. */
export function scratchSpace(staged: Staged): number {
  // A number that the caller gives is copied to where a loop can read it.
  const scalars = staged.stages.flatMap((stage) =>
    stage.kind === "loop" ? stage.loop.scalars : []
  );
  return [...placed(staged), ...scalars, ...scalars]
    .reduce((sum, { shape }) => sum + spaceFor(sizeOf(shape)), 0);
}

/** A graph in stages: loops, and graphs that ONNX Runtime runs. */
export class StagedProgram {
  readonly #graph: Graph;
  readonly #producers: ReadonlyMap<Value, Node>;
  readonly #staged: Staged;
  readonly #stages: readonly ((places: Places) => Step)[];
  readonly #arena: Arena | undefined;
  readonly #scratch = new Map<Value, TensorData>();

  constructor(
    graph: Graph,
    { staged, threads, arena }: {
      staged: Staged;
      threads: number;
      /** Memory that loops work on; not needed without loops. */
      arena: Arena | undefined;
    },
  ) {
    this.#graph = graph;
    this.#producers = producersOf(graph);
    this.#staged = staged;
    this.#arena = arena;
    this.#stages = staged.stages.map((stage) => this.#make(stage, threads));
    const outputs = new Set(graph.outputs.map(({ value }) => value));
    for (const value of placed(staged)) {
      if (!outputs.has(value)) this.#place(value);
    }
  }

  #place(value: Value): void {
    const { shape, dtype } = value;
    const size = sizeOf(shape);
    const array = dtype === "float32" && this.#arena !== undefined
      ? this.#arena.take(size)
      : allocate({ size, dtype });
    this.#scratch.set(value, array);
  }

  /**
   * Returns a function that runs all stages from some arrays into others.
   *
   * @param arrays Arrays of the graph's inputs, as far as they are known, and
   * of all its outputs. The other inputs are given at each run, in the order of
   * the graph.
   */
  bind(
    { inputs, outputs }: { inputs: NamedArrays; outputs: NamedArrays },
  ): Step {
    const arrays = new Map(this.#scratch);
    for (const { name, value } of this.#graph.inputs) {
      const array = inputs.get(name);
      if (array !== undefined) arrays.set(value, array);
    }
    for (const { name, value } of this.#graph.outputs) {
      if (this.#graph.inputs.some((it) => it.value === value)) continue;
      arrays.set(value, outputs.get(name)!);
    }
    for (const { whole, parts } of this.#staged.joined) {
      // The parts of a vector lie in it one after the other.
      const array = arrays.get(whole) as Float32Array;
      let offset = 0;
      for (const part of parts) {
        const size = sizeOf(part.shape);
        arrays.set(part, array.subarray(offset, offset += size));
      }
    }
    const given = new Map(
      this.#graph.inputs.map(({ value }, i) => [value, i] as const),
    );
    const places = { arrays, given, outputs };
    const steps = this.#stages.map((bindTo) => bindTo(places));
    return (caller) => {
      for (let i = 0; i < steps.length; i++) steps[i](caller);
    };
  }

  /** Makes a function that binds a stage to arrays. */
  #make(stage: Stage, threads: number): (places: Places) => Step {
    if (stage.kind === "scalars") {
      return (places) => this.#scalarStep(stage.nodes, places);
    }
    if (stage.kind === "graph") {
      const program = new OnnxProgram(stage.graph, threads);
      return (places) => graphStep(program, places);
    }
    const module = new WebAssembly.Module(compileLoop(stage.loop));
    const { exports } = new WebAssembly.Instance(module, {
      env: { memory: this.#arena!.memory },
    });
    const run = exports.run as (...addresses: number[]) => void;
    return (places) => this.#loopStep(stage.loop, places, run);
  }

  #scalarStep(nodes: readonly Node[], { arrays, given }: Places): Step {
    const made = new Set(nodes.map(({ outputs: [output] }) => output));
    const copies: { to: Float32Array; from: number }[] = [];
    const callers = new Map<Value, Float32Array>();
    const arrayOf = (value: Value): Float32Array => {
      const known = arrays.get(value) ?? callers.get(value);
      if (known !== undefined) return known as Float32Array;
      const array = new Float32Array(1);
      // What no other stage takes needs no place of its own.
      if (made.has(value)) arrays.set(value, array);
      else {
        callers.set(value, array);
        copies.push({ to: array, from: given.get(value)! });
      }
      return array;
    };
    const constantOf = (value: Value) => numberOf(this.#producers.get(value));
    const run = scalarProgram(nodes, { arrayOf, constantOf });
    return (caller) => {
      for (const { to, from } of copies) to[0] = caller[from][0];
      run();
    };
  }

  #loopStep(
    loop: Loop,
    { arrays, given }: Places,
    run: (...addresses: number[]) => void,
  ): Step {
    // A number that lies elsewhere is copied to where the loop can read it.
    const copies: { to: Float32Array; from: Source }[] = [];
    const scalars = loop.scalars.map((value) => {
      const known = arrays.get(value);
      if (known?.buffer === this.#arena!.memory.buffer) return known;
      const to = this.#arena!.take(1);
      copies.push({ to, from: known ?? given.get(value)! });
      return to;
    });
    const vectors = (values: readonly Value[]) =>
      values.map((value) => arrays.get(value)!);
    const addresses = [
      ...vectors(loop.inputs),
      ...scalars,
      ...vectors(loop.outputs),
    ].map(({ byteOffset }) => byteOffset);
    return (caller) => {
      for (const { to, from } of copies) {
        to[0] = typeof from === "number" ? caller[from][0] : from[0];
      }
      run(loop.size, ...addresses);
    };
  }
}

function graphStep(
  program: OnnxProgram,
  { arrays, given, outputs }: Places,
): Step {
  const { graph } = program;
  const taken: { to: number; from: number }[] = [];
  const from = graph.inputs.map(({ value }, i) => {
    const known = arrays.get(value);
    if (known !== undefined) return known;
    taken.push({ to: i, from: given.get(value)! });
    return new Float32Array(); // The caller's comes later.
  });
  const to = graph.outputs.map(({ name, value }) =>
    outputs.get(name) ?? arrays.get(value)!
  );
  return (caller) => {
    for (let i = 0; i < taken.length; i++) {
      from[taken[i].to] = caller[taken[i].from];
    }
    program.run(from, to);
  };
}

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
