import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { countUses, type Graph, type TensorData } from "../graph/graph.ts";
import { lowerGraph } from "../lowering/lower.ts";
import { encodeModel } from "../onnx/model_builder.ts";
import {
  type Binding,
  blockSize,
  OnnxSession,
} from "../runtime/onnx_session.ts";
import { threadsFor } from "./options.ts";
import { allocate, type Port, toPort } from "./_ports.ts";

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
