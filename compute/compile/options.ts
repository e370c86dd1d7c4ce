import type * as tf from "@tensorflow/tfjs";
import { isDeno, isNotCapable, platform } from "@bellman/files";
import { hintAt, refuseUnknown } from "@bellman/files/options";
import {
  isBackendUnselected,
  warn,
  wouldAskForFfi,
} from "../backends/select_backend.ts";
import {
  type Graph,
  multiplications,
  type TensorData,
  type TensorType,
} from "../graph/graph.ts";
import { runtimeVersion } from "../runtime/api.ts";
import { requireRuntime } from "../runtime/onnx_session.ts";
import { describeXla, findGpu, requireXla } from "./_xla_client.ts";

/** Engine that runs compiled functions. */
export type EngineName = "onnx" | "xla" | "eager";

/**
 * Engine of compiled functions: ONNX Runtime (`onnx`), XLA by a plugin of its
 * own (`xla`), or TensorFlow.js kernel by kernel (`eager`). `auto` is XLA where
 * there is a GPU that it has a plugin for, else ONNX Runtime, else eager.
 */
export type Engine = "auto" | EngineName;

const ENGINES = ["auto", "onnx", "xla", "eager"];

/** Options of compiled functions, and of those with a state. */
const OPTIONS = [
  ...["inputs", "engine", "threads", "name", "maxShapes", "onNotice"],
  "state",
];

/** Of training on WebAssembly: DQN and SAC 11 and 13 times, PPO 21, A2C 18 to 34. */
const SLOWER = "10 to 30 times slower";

/** Reasons that were given already: one line for each is enough. */
const given = new Set<string>();

/**
 * Finds the engine that can be used.
 *
 * @throws {RangeError} If there is no engine of that name.
 * @throws {Error} If one was named and cannot be used.
 */
function resolveEngine(
  engine: Engine,
  onNotice: (line: string) => void,
): EngineName {
  isBackendUnselected(); // Before anything is computed.
  if (!ENGINES.includes(engine)) {
    throw new RangeError(
      `Unknown engine '${engine}': ${hintAt(String(engine), ENGINES)}`,
    );
  }
  if (engine === "eager") return "eager";
  const isAuto = engine === "auto";
  // Faster than ONNX Runtime on a GPU alone, for convolutions.
  const mayFind = isAuto && isDeno() && !wouldAskForFfi();
  if (mayFind && findGpu() !== undefined) return "xla";
  const name = isAuto ? "onnx" : engine;
  const reason = isAuto && wouldAskForFfi() ? needsFfi("onnx") : whyNot(name);
  if (reason === undefined) return name;
  if (!isAuto) {
    throw new Error(`Cannot use the engine '${engine}': ${reason}`);
  }
  if (!given.has(reason)) {
    given.add(reason);
    onNotice(`Not compiled, ${SLOWER}: ${reason}`);
  }
  return "eager";
}

/** Engines as they are named to people. */
const TITLES = { onnx: "ONNX Runtime", xla: "XLA" } as const;

function needsFfi(engine: keyof typeof TITLES): string {
  return `${TITLES[engine]} needs --allow-ffi`;
}

/** Says in one line why an engine cannot be used, if it cannot. */
function whyNot(engine: keyof typeof TITLES): string | undefined {
  if (engine === "xla" && !isDeno()) return "XLA needs Deno";
  if (platform().os === "page") return "ONNX Runtime needs Deno or Node";
  try {
    if (engine === "xla") requireXla();
    else requireRuntime();
    return undefined;
  } catch (error) {
    if (isNotCapable(error)) return needsFfi(engine);
    const [line] = (error as Error).message.split("\n");
    const title = TITLES[engine];
    return line.startsWith(title) ? line : `${title} cannot be loaded: ${line}`;
  }
}

/** The engine that was taken. */
export interface EngineInfo {
  /** Its name. */
  readonly name: EngineName;
  /** One line that names what runs compiled functions. */
  readonly description: string;
  /** Library that compiles, and its version; null for `eager`. */
  readonly library: string | null;
  /** Device that compiled functions run on; null for `eager`. */
  readonly device: string | null;
}

/**
 * Finds the engine that compiled functions will run on, before any is compiled.
 *
 * @param engine Engine to look for.
 * @param options Callback for the line that says why `auto` does not compile,
 * `console.warn` by default. Each reason is given once.
 * @returns The engine that can be used.
 * @throws {RangeError} If no engine has that name; the message has the nearest.
 * @throws {Error} If an engine is named and cannot be used, in one line.
 *
 * @example
 * ```ts
 * import { selectEngine } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 *
 * const lines: string[] = [];
 * const { name } = selectEngine("auto", { onNotice: (line) => lines.push(line) });
 * assertEquals(lines.length, name === "eager" ? 1 : 0);
 * ```
 */
export function selectEngine(
  engine: Engine = "auto",
  options: { readonly onNotice?: (line: string) => void } = {},
): EngineInfo {
  const name = resolveEngine(engine, options.onNotice ?? warn);
  if (name === "eager") {
    const description = "eager, by TensorFlow.js";
    return { name, description, library: null, device: null };
  }
  const { library, device } = name === "onnx"
    ? { library: `ONNX Runtime ${runtimeVersion()}`, device: "cpu" }
    : describeXla();
  const on = name === "onnx" ? "" : ` on ${device}`;
  return {
    name,
    description: `compiled, by ${library}${on}`,
    library,
    device,
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

/** Inputs of a compiled function, in the records of their declarations. */
export type InputsOf<Types> = {
  readonly [K in keyof Types]: NonNullable<Types[K]> extends
    TensorType | tf.Tensor ? TensorInput
    : InputsOf<Types[K]>;
};

/** Results of a compiled function: an array for each tensor. */
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
   * Threads within an operation of ONNX Runtime; XLA takes its own. `auto` takes one for small
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

/** Returns the threads of a graph: the setting, or for `auto` by its work. */
export function threadsFor(graph: Graph, threads: number | "auto"): number {
  if (threads !== "auto") return threads;
  return multiplications(graph) < MANY_MULTIPLICATIONS
    ? 1
    : navigator.hardwareConcurrency;
}

/** The options of a compilation, complete and checked. */
export type Settings =
  & Required<Omit<CompileOptions<unknown>, "inputs" | "engine">>
  & { readonly engine: EngineName };

/** Completes and checks the options of a compilation. */
export function settingsOf(
  fn: { readonly name: string },
  options: Omit<CompileOptions<unknown>, "inputs">,
): Settings {
  refuseUnknown(options, OPTIONS, "compile");
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
