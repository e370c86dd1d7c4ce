import { closest } from "fastest-levenshtein";
import { wouldAskForFfi } from "../backends/permissions.ts";
import { RUNTIME_VERSION } from "../runtime/api.ts";
import { requireRuntime } from "../runtime/session.ts";

/**
 * Engine of compiled functions: ONNX Runtime (`onnx`), TensorFlow.js kernel by
 * kernel (`eager`), or the first of both that can be used (`auto`).
 */
export type Engine = "auto" | "onnx" | "eager";

const ENGINES = ["auto", "onnx", "eager"];

/** Prints a notice. */
export function warn(line: string): void {
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
export function resolveEngine(
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
