import {
  type DType,
  type Graph,
  sizeOf,
  type TensorData,
} from "../graph/graph.ts";
import { optimize } from "../graph/passes/optimize.ts";
import { packState } from "../graph/passes/pack_state.ts";
import { separateParts } from "../graph/passes/separate_parts.ts";
import { type HloVector, lowerToHlo } from "../lowering/lower_hlo.ts";
import type { BoundCall, CallInput } from "../xla/bound_call.ts";
import type { XlaClient } from "../xla/client.ts";
import type { XlaFlags } from "../xla/compile_options.ts";
import type { Executable } from "../xla/executable.ts";
import { alignedArray } from "../xla/tensors.ts";
import {
  allocate,
  cut,
  type ResidentEngine,
  type StateLeaf,
  type StateMemory,
  toPort,
  unitsOf,
  type Variant,
} from "./_compiled_program.ts";
import { checkMemory, explainMemory, requireXla } from "./_xla_client.ts";
import type { Settings } from "./options.ts";

/** Types of numbers as they come into a program and leave it. */
const OUTSIDE = {
  float32: "f32",
  int32: "i32",
  bool: "ui8",
  uint8: "ui8",
} as const;

/** An array of a program's that keeps its place. */
interface Slot {
  /** Place among the inputs of the caller, or outputs of the program. */
  readonly place: number;
  readonly array: TensorData;
}

/** By default, the larger of NaN and a number is a number on some processors. */
const FLAGS = { xla_cpu_enable_fast_min_max: false };
/**
 * Flags for large states: XLA finds that parameters need no copy before a step.
 * For small ones it makes other copies instead, and ACER's update a tenth slower.
 */
const LARGE_STATE_FLAGS = {
  ...FLAGS,
  xla_cpu_copy_insertion_use_region_analysis: true,
};
/** Least numbers of a large state. */
const LARGE_STATE = 1 << 17;

/** Least numbers of a vector of its own: each buffer costs 0.4 us a call. */
const MIN_RUN = 1024;

/** Programs by their text: equal functions share one. */
const programs = new Map<string, WeakRef<Executable>>();

function programFor(
  client: XlaClient,
  text: string,
  flags: XlaFlags,
): Executable {
  const known = programs.get(text)?.deref();
  if (known !== undefined) return known;
  const program = client.compile(text, { flags });
  programs.set(text, new WeakRef(program));
  return program;
}

/**
 * Returns the vectors that hold a state: one for each run of tensors that the
 * function joins and makes anew as a whole; of the others one for each type of
 * numbers, and another one for tensors that stay as they are. XLA writes a run
 * in place: were all in one vector, it would copy that before each step and
 * join it after: 6 % of SAC's update.
 */
function vectorsOf(
  graph: Graph,
  leaves: readonly StateLeaf[],
  passed: ReadonlySet<string>,
): HloVector[] {
  const { runs } = packState(graph, new Set(leaves.map(({ name }) => name)));
  const own = unitsOf(leaves, runs.filter(({ output }) => output))
    .filter(({ size }) => size >= MIN_RUN);
  const placed = new Set(own.flatMap(({ members }) => members));
  const groups = Map.groupBy(
    leaves.filter(({ name }) => !placed.has(name)),
    ({ name, leaf }) => `${leaf.dtype} ${passed.has(name)}`,
  );
  return [
    ...own,
    ...[...groups.values()].map((members) => ({
      dtype: members[0].leaf.dtype,
      members: members.map(({ name }) => name),
    })),
  ];
}

/** Finds the tensors that a graph returns as they came. */
function passedIn({ inputs, outputs }: Graph): Set<string> {
  const taken = new Map(inputs.map(({ name, value }) => [name, value]));
  return new Set(
    outputs.filter(({ name, value }) => taken.get(name) === value)
      .map(({ name }) => name),
  );
}

/** XLA over a state that it writes in place. */
export class XlaEngine implements ResidentEngine {
  readonly #leaves: readonly StateLeaf[];
  readonly #name: string;
  #vectors: readonly HloVector[] | undefined;
  /** Memory of each vector. */
  #memory: readonly TensorData[] = [];
  /** The tensors of the state, in that memory. */
  readonly #arrays = new Map<string, TensorData>();
  /** Program that ran last: on a device, it has the state. */
  #owner: BoundCall | undefined;

  constructor(leaves: readonly StateLeaf[], { name }: Settings) {
    this.#leaves = leaves;
    this.#name = name;
  }

  /** Lays the state out, as suits the first program. */
  #vectorsFor(graph: Graph): readonly HloVector[] {
    const passed = passedIn(graph);
    if (this.#vectors === undefined) {
      this.#vectors = vectorsOf(graph, this.#leaves, passed);
      this.#memory = this.#vectors.map((it) => this.#allocate(it));
    }
    return this.#vectors.map((it) => ({
      ...it,
      isFixed: it.members.every((name) => passed.has(name)),
    }));
  }

  /** Makes the memory of a vector and the arrays of its tensors in it. */
  #allocate({ members, dtype }: HloVector): TensorData {
    const shapes = new Map(
      this.#leaves.map(({ name, leaf }) => [name, leaf.shape]),
    );
    const sizes = members.map((name) => sizeOf(shapes.get(name)!));
    const whole = aligned(dtype, sizes.reduce((sum, it) => sum + it, 0));
    cut(whole, sizes).forEach((part, i) => this.#arrays.set(members[i], part));
    return whole;
  }

  compile(traced: Graph): Variant {
    const graph = separateParts(optimize(traced, { fuse: false }));
    const vectors = this.#vectorsFor(graph);
    const client = requireXla();
    const isForCpu = client.platform === "cpu";
    const lowered = lowerToHlo(graph, vectors, { isForCpu });
    const size = this.#memory.reduce((sum, it) => sum + it.length, 0);
    const flags = size < LARGE_STATE ? FLAGS : LARGE_STATE_FLAGS;
    const program = programFor(client, lowered.text, flags);
    checkMemory(program, this.#name);
    const inputs = lowered.inputs.map((place): Slot => {
      const { shape, dtype } = graph.inputs[place].value;
      return { place, array: aligned(dtype, sizeOf(shape)) };
    });
    const constants = lowered.constants.map(({ values, dtype }) => {
      const array = aligned(dtype, values.length);
      array.set(values);
      return { array };
    });
    const call = program.bind([
      ...vectors.map(({ isFixed }, i): CallInput => ({
        array: this.#memory[i],
        use: isFixed ? "borrow" : "share",
      })),
      ...[...inputs, ...constants].map(({ array }): CallInput => ({
        array,
        use: "borrow",
      })),
    ]);
    const before = vectors.filter(({ isFixed }) => !isFixed).length;
    const results = new Map<string, TensorData>();
    const outputs = lowered.outputs.map((places, i): Slot => {
      const ports = places.map((place) => toPort(graph.outputs[place]));
      const [{ dtype }] = ports;
      const sizes = ports.map(({ size }) => size);
      const size = sizes.reduce((sum, it) => sum + it, 0);
      const array = allocate({ dtype, size });
      cut(array, sizes).forEach((part, i) => results.set(ports[i].name, part));
      return { place: before + i, array };
    });
    const run = (given: readonly TensorData[]) => {
      for (let i = 0; i < inputs.length; i++) {
        const { place, array } = inputs[i];
        array.set(given[place]);
      }
      if (call !== this.#owner) this.#handOver(call);
      try {
        call.run();
      } catch (error) {
        throw explainMemory(error, program, this.#name);
      }
      for (let i = 0; i < outputs.length; i++) {
        const { place, array } = outputs[i];
        call.readInto(place, array);
      }
    };
    return { graph, results, run };
  }

  /** Gives the state to another program. */
  #handOver(call: BoundCall): void {
    this.#owner?.pull();
    call.push();
    this.#owner = call;
  }

  pull(): StateMemory {
    this.#owner?.pull();
    return this.#arrays;
  }

  push(): void {
    this.#owner?.push();
  }
}

/** Makes an array that XLA can use in place. */
function aligned(dtype: DType, size: number): TensorData {
  return alignedArray(OUTSIDE[dtype], size) as TensorData;
}
