import type * as tf from "@tensorflow/tfjs";
import type { Graph, TensorData, TensorType } from "../graph/graph.ts";
import { multiplications } from "../graph/multiplications.ts";
import { type Engine, resolveEngine, warn } from "./engine.ts";

/**
 * Input of a compiled function for one tensor: an array of the declared type
 * and size, a number for a scalar, an array with a shape of its own, or a
 * tensor of TensorFlow.js. Arrays that stay the same from call to call are read
 * in place, without copying.
 */
export type TensorInput =
  | number
  | TensorData
  | tf.Tensor
  | { readonly data: TensorData; readonly shape: readonly number[] };

/** Inputs in the place of their declarations. */
export type InputsOf<Types> = {
  readonly [K in keyof Types]: NonNullable<Types[K]> extends
    TensorType | tf.Tensor ? TensorInput
    : InputsOf<Types[K]>;
};

/** Arrays in the place of the tensors that a function returns. */
export type ArraysOf<Outputs> = {
  readonly [K in keyof Outputs]: NonNullable<Outputs[K]> extends tf.Tensor
    ? TensorData
    : ArraysOf<Outputs[K]>;
};

/** Options of {@linkcode compile}. */
export interface CompileOptions<Types> {
  /** Shape and type of each input, in nested records; tensors declare too. */
  readonly inputs: Types;
  /**
   * Engine that runs it.
   *
   * @default "auto"
   */
  readonly engine?: Engine;
  /**
   * Threads within an operation of ONNX Runtime. `auto` takes one for small
   * functions and all cores for large ones, by an estimate of the work: the
   * same function takes the same number each time, so that results repeat.
   *
   * @default "auto"
   */
  readonly threads?: number | "auto";
  /**
   * Name of the function in messages.
   *
   * @default the function's own name
   */
  readonly name?: string;
  /**
   * Sets of input shapes that are compiled before another one is an error.
   *
   * @default 8
   */
  readonly maxShapes?: number;
  /**
   * Takes the line that says that the engine fell back, or that the function
   * was compiled for another shape.
   *
   * @default console.warn
   */
  readonly onNotice?: (line: string) => void;
}

/**
 * Multiplications from which all cores are used. Below, waking the others costs
 * more than they save; see the table in the package's README.
 */
const MANY_MULTIPLICATIONS = 1e7;

/** More than any machine has use for: as many would be started. */
const MAX_THREADS = 1024;

/** Checks a number of threads. */
function checkThreads(threads: number | "auto"): void {
  if (threads === "auto") return;
  const fits = Number.isInteger(threads) && threads >= 1 &&
    threads <= MAX_THREADS;
  if (fits) return;
  throw new RangeError(
    `Cannot run on ${threads} threads: expected a whole number from 1 to ${MAX_THREADS}, or 'auto'`,
  );
}

/** Returns the threads of a graph: as they were asked for, or by its work. */
export function threadsFor(graph: Graph, threads: number | "auto"): number {
  if (threads !== "auto") return threads;
  return multiplications(graph) < MANY_MULTIPLICATIONS
    ? 1
    : navigator.hardwareConcurrency;
}

/** The options of a compilation, complete and checked. */
export interface Settings {
  readonly engine: "onnx" | "eager";
  readonly threads: number | "auto";
  readonly name: string;
  readonly maxShapes: number;
  readonly onNotice: (line: string) => void;
}

/** Completes and checks the options of a compilation. */
export function settingsOf(
  fn: { readonly name: string },
  options: Omit<CompileOptions<unknown>, "inputs">,
): Settings {
  const { threads = "auto", maxShapes = 8, onNotice = warn } = options;
  const name = options.name || fn.name || "the function";
  if (!(Number.isInteger(maxShapes) && maxShapes >= 1)) {
    throw new RangeError(
      `Cannot compile ${name} with maxShapes = ${maxShapes}: expected a whole number of at least 1`,
    );
  }
  checkThreads(threads);
  const engine = resolveEngine(options.engine ?? "auto", onNotice);
  return { engine, threads, name, maxShapes, onNotice };
}
