import {
  type Graph,
  type Node,
  numberOf,
  producersOf,
  sizeOf,
  type TensorData,
  type Value,
} from "../graph/graph.ts";
import { compileLoop, type Loop } from "../loops/loop.ts";
import { scalarProgram } from "../loops/find_loops.ts";
import type { Stage, Staged } from "../loops/stages.ts";
import { OnnxProgram } from "./_onnx_program.ts";
import { allocate } from "./_ports.ts";

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
