import type * as tf from "@tensorflow/tfjs";
import { closest } from "fastest-levenshtein";
import { wouldAskForFfi } from "../backends/select_backend.ts";
import {
  type Graph,
  multiplications,
  type TensorData,
  type TensorType,
} from "../graph/graph.ts";
import { RUNTIME_VERSION } from "../runtime/api.ts";
import { requireRuntime } from "../runtime/session.ts";

/**
 * Engine of compiled functions: ONNX Runtime (`onnx`), TensorFlow.js kernel by
 * kernel (`eager`), or the first of both that can be used (`auto`).
 */
export type Engine = "auto" | "onnx" | "eager";

const ENGINES = ["auto", "onnx", "eager"];

/** Prints a notice. */
function warn(line: string): void {
  // deno-lint-ignore no-console -- notices go there by default
  console.warn(line);
}

/** Reasons that were given already: one line for each is enough. */
const given = new Set<string>();

/**
 * Finds the engine that can be used.
 *
 * @throws {RangeError} If there is no engine of that name.
 * @throws {Error} If ONNX Runtime was asked for and cannot be used.
 */
function resolveEngine(
  engine: Engine,
  onNotice: (line: string) => void,
): "onnx" | "eager" {
  if (!ENGINES.includes(engine)) {
    throw new RangeError(
      `Unknown engine '${engine}': did you mean '${closest(engine, ENGINES)}'?`,
    );
  }
  if (engine === "eager") return "eager";
  const reason = whyNot(engine);
  if (reason === undefined) return "onnx";
  if (engine === "onnx") {
    throw new Error(`Cannot use the engine 'onnx': ${reason}`);
  }
  if (!given.has(reason)) {
    given.add(reason);
    onNotice(`Not compiled, slower: ${reason}`);
  }
  return "eager";
}

/** Says in one line why ONNX Runtime cannot be used, if it cannot. */
function whyNot(engine: Engine): string | undefined {
  if (engine === "auto" && wouldAskForFfi()) {
    return "ONNX Runtime needs --allow-ffi";
  }
  try {
    requireRuntime();
    return undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) {
      return "ONNX Runtime needs --allow-ffi";
    }
    return `ONNX Runtime cannot be loaded: ${
      (error as Error).message.split("\n")[0]
    }`;
  }
}

/** The engine that was taken. */
export interface EngineInfo {
  /** Its name. */
  readonly name: "onnx" | "eager";
  /** One line that names what runs compiled functions. */
  readonly description: string;
}

/**
 * Finds the engine that compiled functions will run on, before any is compiled.
 *
 * @param engine Engine to look for.
 * @param options Callback for the line that says why `auto` is not ONNX
 * Runtime, `console.warn` by default. Each reason is given once.
 * @returns The engine that can be used.
 * @throws {RangeError} If no engine has that name; the message has the nearest.
 * @throws {Error} If `onnx` is asked for and cannot be used, in one line.
 *
 * @example
 * ```ts
 * import { selectEngine } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 *
 * const lines: string[] = [];
 * const { name } = selectEngine("auto", { onNotice: (line) => lines.push(line) });
 * assertEquals(lines.length, name === "onnx" ? 0 : 1);
 * ```
 */
export function selectEngine(
  engine: Engine = "auto",
  options: { readonly onNotice?: (line: string) => void } = {},
): EngineInfo {
  const name = resolveEngine(engine, options.onNotice ?? warn);
  return {
    name,
    description: name === "onnx"
      ? `compiled, by ONNX Runtime ${RUNTIME_VERSION}`
      : "eager, by TensorFlow.js",
  };
}

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
export type Settings =
  & Required<Omit<CompileOptions<unknown>, "inputs" | "engine">>
  & { readonly engine: "onnx" | "eager" };

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
