import { RUNTIME_VERSION } from "../runtime/library.ts";
import { resolveEngine } from "./_engine.ts";
import type { Engine } from "./types.ts";

/** Which engine was taken. */
export interface EngineInfo {
  /** Its name. */
  readonly name: "onnx" | "eager";
  /** One line about it: what runs compiled functions. */
  readonly description: string;
}

/**
 * Finds out what compiled functions will be run by, before any is compiled.
 *
 * @param engine What is wanted.
 * @param options Where the line goes that says why `auto` is not ONNX Runtime;
 * to `console.warn` if nothing is said. Each reason is told once.
 * @returns What there is.
 * @throws {RangeError} If there is no engine of that name, with the nearest.
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
  // deno-lint-ignore no-console -- where notices go unless told otherwise
  const { onNotice = (line: string) => console.warn(line) } = options;
  const name = resolveEngine(engine, onNotice);
  return {
    name,
    description: name === "onnx"
      ? `compiled, by ONNX Runtime ${RUNTIME_VERSION}`
      : "eager, by TensorFlow.js",
  };
}
