import * as tf from "@tensorflow/tfjs";
import { withBackend } from "../backends/select_backend.ts";
import {
  type Graph,
  makeGraph,
  type NamedValue,
  type TensorType,
  type Value,
} from "../graph/graph.ts";
import {
  Recorder,
  TRACE,
  type TracingBackend,
  tracingBackend,
} from "./tracing_backend.ts";
import { atItsPlace, PlacedError } from "./source_line.ts";
import {
  declarationsOf,
  leavesOf,
  recordsOf,
  type Tree,
  treeOf,
} from "./tree.ts";

/** Arguments of a traced function: tensors of the declared types. */
export type TensorsOf<Types> = {
  readonly [K in keyof Types]: NonNullable<Types[K]> extends tf.Tensor
    ? Types[K]
    : NonNullable<Types[K]> extends { readonly shape: infer Shape }
      ? TensorOfShape<Shape>
    : TensorsOf<Types[K]>;
};

/** The type of a tensor whose shape is known. */
export type TensorOfShape<Shape> = Shape extends readonly [] ? tf.Scalar
  : Shape extends readonly [number] ? tf.Tensor1D
  : Shape extends readonly [number, number] ? tf.Tensor2D
  : Shape extends readonly [number, number, number] ? tf.Tensor3D
  : Shape extends readonly [number, number, number, number] ? tf.Tensor4D
  : tf.Tensor;

/**
 * Declarations of inputs in nested records: shapes and types, or tensors that
 * have them.
 */
export type TypeTree = Tree<TensorType | tf.Tensor>;

/**
 * Runs a function of tensors once on a backend that computes nothing, and
 * records what it does: TensorFlow.js's kernels with shapes and types.
 *
 * Gradients, nested functions and custom gradients are recorded like anything
 * else. Tensors from outside the function become constants. What depends on
 * numbers cannot be traced: reading a tensor throws. Errors within the function
 * name the file and the line that they come from.
 *
 * @param fn A pure function from nested records of tensors to nested records
 * of tensors.
 * @param inputs Shape and type of each input, in nested records.
 * @returns The graph, as it was recorded; {@linkcode optimize} makes it small.
 * @throws {TypeError} If the function reads a tensor, draws random numbers,
 * uses an operation that has no lowering, or returns something else.
 *
 * @example
 * ```ts
 * import { trace } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { assertEquals } from "@std/assert";
 *
 * const graph = trace(
 *   ({ x, w }) => ({ y: tf.tanh(tf.matMul(x, w)) }),
 *   {
 *     x: { shape: [16, 4], dtype: "float32" },
 *     w: { shape: [4, 2], dtype: "float32" },
 *   },
 * );
 * assertEquals(graph.nodes.map(({ op }) => op), ["BatchMatMul", "Tanh"]);
 * assertEquals(graph.outputs[0].value.shape, [16, 2]);
 * ```
 */
export function trace<const Types extends TypeTree>(
  fn: (inputs: TensorsOf<Types>) => unknown,
  inputs: Types,
): Graph {
  const action = `trace ${fn.name || "the function"}`;
  const call = fn as (inputs: unknown) => unknown;
  return traceOnce(call, inputs, { action, isPlaced: true }).graph;
}

/** A traced function and how what it returns is nested. */
export interface Traced {
  readonly graph: Graph;
  /** The keys that lead to each output. */
  readonly outputPaths: readonly (readonly string[])[];
  /** The records that it returns, without the tensors in them. */
  readonly outputRecords: Tree<never>;
}

/**
 * Traces as {@linkcode trace}, and tells how the outputs are nested. Operations
 * have no `source`: to find them takes longer than all the rest.
 *
 * @param action Action that fails where the function throws, for the message.
 */
export function traceFunction(
  fn: (inputs: unknown) => unknown,
  inputs: unknown,
  action: string,
): Traced {
  try {
    return traceOnce(fn, inputs, { action, isPlaced: false });
  } catch (error) {
    if (!(error instanceof PlacedError)) throw error;
    // Its message may name the place of an operation: it is thrown again with that.
    return traceOnce(fn, inputs, { action, isPlaced: true });
  }
}

function traceOnce(
  fn: (inputs: unknown) => unknown,
  inputs: unknown,
  { action, isPlaced }: { action: string; isPlaced: boolean },
): Traced {
  return whileTracing(new Recorder(null, isPlaced), (backend, recorder) => {
    const declared = declarationsOf(inputs);
    const named = declared.map(({ name, leaf: { shape, dtype } }) => ({
      name,
      value: { shape: [...shape], dtype } as Value,
    }));
    const tensors = declared.map(({ path }, i) => ({
      path,
      leaf: placeholder(named[i].value, { backend, recorder }),
    }));
    const result = atItsPlace(action, () => fn(treeOf(tensors, inputs)));
    if (recorder.refused !== undefined) throw recorder.refused;
    const returned = leavesOf(result, isTensor);
    const outputs = returned.map(({ name, leaf }) => ({
      name,
      value: backend.graphValue(leaf),
    }));
    checkNames(named, "inputs");
    checkNames(outputs, "outputs");
    return {
      graph: makeGraph({ inputs: named, nodes: recorder.nodes, outputs }),
      outputPaths: returned.map(({ path }) => path),
      outputRecords: recordsOf(result),
    };
  });
}

/** Makes the tensor that represents an input. */
function placeholder(
  value: Value,
  { backend, recorder }: { backend: TracingBackend; recorder: Recorder },
): tf.Tensor {
  // TensorFlow.js knows no bytes: the function sees whole numbers.
  const seen = value.dtype === "uint8"
    ? recorder.record("Cast", [value], { dtype: "int32" })[0]
    : value;
  return backend.makeTensor(seen);
}

function checkNames(named: readonly NamedValue[], what: string): void {
  const names = new Set<string>();
  for (const { name } of named) {
    if (name === "") {
      throw new TypeError(`Cannot compile ${what} without a name`);
    }
    if (names.has(name)) {
      throw new TypeError(`Cannot compile ${what} of one name, '${name}'`);
    }
    names.add(name);
  }
}

/** True where a node of a tree is a tensor. */
export function isTensor(node: unknown): node is tf.Tensor {
  return node instanceof tf.Tensor;
}

/** Switches to the tracing backend and back again. */
function whileTracing(
  recorder: Recorder,
  run: (backend: TracingBackend, recorder: Recorder) => Traced,
): Traced {
  const backend = tracingBackend();
  if (backend.recorder !== null) {
    throw new TypeError(
      "Cannot trace a function while another is traced: call it directly",
    );
  }
  let traced: Traced | undefined;
  backend.recorder = recorder;
  try {
    withBackend(
      TRACE,
      () => tf.tidy(() => void (traced = run(backend, recorder))),
    );
  } finally {
    backend.recorder = null;
  }
  return traced!;
}
