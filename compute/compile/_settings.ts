import { resolveEngine } from "./_engine.ts";
import { checkThreads } from "./_threads.ts";
import type { CompileOptions } from "./types.ts";

/** The options of a compilation, complete and checked. */
export interface Settings {
  readonly engine: "onnx" | "eager";
  readonly threads: number | "auto";
  readonly name: string;
  readonly maxShapes: number;
  readonly onNotice: (line: string) => void;
}

/** Fills in what was not said. */
export function settingsOf(
  fn: { readonly name: string },
  options: Omit<CompileOptions<unknown>, "inputs">,
): Settings {
  const { threads = "auto", maxShapes = 8 } = options;
  // deno-lint-ignore no-console -- where notices go unless told otherwise
  const { onNotice = (line: string) => console.warn(line) } = options;
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
