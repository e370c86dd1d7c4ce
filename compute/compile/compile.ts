import type { Graph, TensorData, TensorType } from "../graph/graph.ts";
import { optimize } from "../graph/passes/optimize.ts";
import {
  type TensorsOf,
  traceFunction,
  type TypeTree,
} from "../tracing/trace.ts";
import { type Tree, treeOf } from "../tracing/tree.ts";
import { eagerFunction } from "./_eager.ts";
import { InputReader, variants, withShapes } from "./_inputs.ts";
import {
  type ArraysOf,
  type CompileOptions,
  type InputsOf,
  type Settings,
  settingsOf,
} from "./options.ts";
import { allocate, Program } from "./_program.ts";

/** A function that {@linkcode compile} made. */
export interface Compiled<Types, Outputs> {
  /** Engine that runs it. */
  readonly engine: "onnx" | "eager";
  /** Its operations, for the declared shapes. */
  readonly graph: Graph;
  /**
   * Computes.
   *
   * @param inputs A number, array or tensor for each input.
   * @returns Arrays that are written anew by the next call; what is to last
   * must be copied.
   * @throws {TypeError} If an input is missing or of another type.
   * @throws {RangeError} If an array has another size, or there are more sets
   * of shapes than `maxShapes`.
   */
  run(inputs: InputsOf<Types>): ArraysOf<Outputs>;
}

/**
 * Makes a fast function of a pure function of tensors: it is traced once, and
 * the graph is run by ONNX Runtime.
 *
 * The function must not depend on the numbers of its tensors other than by
 * operations on them; see {@linkcode trace}. Where ONNX Runtime cannot be used
 * the same function runs eagerly on the present backend of TensorFlow.js,
 * unless `onnx` was asked for by name.
 *
 * @param fn A function from nested records of tensors to nested records.
 * @param options Declarations of the inputs, engine, threads.
 * @returns The function, over arrays.
 * @throws {TypeError} If the function cannot be traced.
 * @throws {Error} If the engine `onnx` was asked for and cannot be used.
 *
 * @example
 * ```ts
 * import { compile } from "@bellman/compute";
 * import { assertAlmostEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const loss = ({ w, x }: { w: tf.Tensor; x: tf.Tensor }) =>
 *   tf.mean(tf.square(tf.sub(tf.tanh(tf.mul(x, w)), 1))) as tf.Scalar;
 * const descend = compile(({ w, x, rate }) => {
 *   const gradient = tf.grad((w) => loss({ w, x }))(w);
 *   return { w: tf.sub(w, tf.mul(gradient, rate)), loss: loss({ w, x }) };
 * }, {
 *   inputs: {
 *     w: { shape: [], dtype: "float32" },
 *     x: { shape: [3], dtype: "float32" },
 *     rate: { shape: [], dtype: "float32" },
 *   },
 * });
 * const { w } = descend.run({ w: 0, x: Float32Array.of(1, 2, 3), rate: 0.1 });
 * assertAlmostEquals(w[0], 0.4, 1e-6);
 * ```
 */
export function compile<
  const Types extends TypeTree,
  Outputs extends object,
>(
  fn: (inputs: TensorsOf<Types>) => Outputs,
  options: CompileOptions<Types>,
): Compiled<Types, Outputs> {
  const settings = settingsOf(fn, options);
  const call = fn as (inputs: unknown) => unknown;
  const types = options.inputs as Tree<TensorType>;
  const made = settings.engine === "onnx"
    ? onnxFunction(call, types, settings)
    : eagerFunction(call, types, settings);
  return made as unknown as Compiled<Types, Outputs>;
}

/** A program, where its results are put and how they are nested. */
interface Variant {
  readonly program: Program;
  readonly arrays: readonly TensorData[];
  readonly results: Tree<TensorData>;
}

function onnxFunction(
  fn: (inputs: unknown) => unknown,
  types: Tree<TensorType>,
  settings: Settings,
) {
  const variantFor = variants((others): Variant => {
    const traced = traceFunction(fn, withShapes(types, others));
    const program = new Program(optimize(traced.graph), settings.threads);
    const arrays = program.outputs.map(allocate);
    const results = treeOf(
      traced.outputPaths.map((path, i) => ({ path, leaf: arrays[i] })),
      traced.outputRecords,
    );
    return { program, arrays, results };
  }, settings);
  const reader = new InputReader(types, settings);
  // Compiled now: what cannot be is an error here and not at the first call.
  variantFor(undefined);
  return {
    engine: "onnx",
    get graph(): Graph {
      return variantFor(undefined).program.graph;
    },
    run(inputs: unknown): Tree<TensorData> {
      const given = reader.read(inputs);
      const variant = variantFor(reader.otherShapes);
      variant.program.run(given, variant.arrays);
      return variant.results;
    },
  };
}
