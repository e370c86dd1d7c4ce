import { closest } from "fastest-levenshtein";
import { wouldAskForFfi } from "../_permissions.ts";
import { requireRuntime } from "../runtime/session.ts";
import type { Engine } from "./types.ts";

const ENGINES = ["auto", "onnx", "eager"];

/** Reasons that were given already: one line each is enough. */
const told = new Set<string>();

/**
 * The engine that is there.
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
  if (!told.has(reason)) {
    told.add(reason);
    onNotice(`Not compiled, slower: ${reason}`);
  }
  return "eager";
}

/** Why ONNX Runtime cannot be used, in one line. */
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
