import * as tf from "@tensorflow/tfjs";
import { closest } from "fastest-levenshtein";
import { checkWasmIsReadable, wouldAskForFfi } from "./_permissions.ts";

/** A backend that computes tensors, or `auto` for the first that loads. */
export type BackendName = "auto" | "tensorflow" | "wasm" | "cpu";

/** Which backend was taken. */
export interface BackendInfo {
  /** Its name, as TensorFlow.js knows it. */
  name: "tensorflow" | "wasm" | "cpu";
  /** One line about it: what computes, and where. */
  description: string;
}

type Loader = () => Promise<string>;

async function loadTensorFlow(): Promise<string> {
  const { loadTensorFlowBackend } = await import("./tensorflow/mod.ts");
  const { description } = await loadTensorFlowBackend();
  return description;
}

async function loadWasm(): Promise<string> {
  checkWasmIsReadable();
  await import("@tensorflow/tfjs-backend-wasm");
  const { registerWasmKernels } = await import("./wasm_kernels/mod.ts");
  registerWasmKernels();
  return "WebAssembly on one thread";
}

function loadCpu(): Promise<string> {
  return Promise.resolve("plain JavaScript");
}

const LOADERS: Readonly<Record<BackendInfo["name"], Loader>> = {
  tensorflow: loadTensorFlow,
  wasm: loadWasm,
  cpu: loadCpu,
};

async function take(name: BackendInfo["name"]): Promise<BackendInfo> {
  // Without this, TensorFlow.js advertises its other packages on the terminal.
  tf.enableProdMode();
  try {
    const description = await LOADERS[name]();
    if (!await tf.setBackend(name)) throw new Error("it did not initialise");
    return { name, description: `${name} (${description})` };
  } catch (error) {
    const reason = (error as Error).message.split("\n")[0];
    throw new Error(`Cannot use the ${name} backend: ${reason}`);
  }
}

/**
 * Chooses what computes the tensors and makes it ready.
 *
 * `auto` takes the first of `tensorflow`, `wasm` and `cpu` that loads; an
 * explicit request never falls back. The wasm backend gets the kernels that it
 * lacks, so that every network of this library trains on it.
 *
 * @param name Which backend.
 * @returns Which one was taken.
 * @throws {RangeError} If there is no backend of that name, with the nearest.
 * @throws {Error} If the backend cannot be used here, in one line that says why.
 * @example
 * ```ts
 * import { selectBackend } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * const { name } = await selectBackend("wasm");
 * assertEquals(name, "wasm");
 * assertEquals(tf.getBackend(), "wasm");
 * ```
 */
export async function selectBackend(
  name: BackendName = "auto",
): Promise<BackendInfo> {
  if (name === "auto") return await firstThatLoads();
  if (Object.hasOwn(LOADERS, name)) return await take(name);
  const names = ["auto", ...Object.keys(LOADERS)];
  throw new RangeError(
    `Unknown backend '${name}': did you mean '${closest(name, names)}'?`,
  );
}

async function firstThatLoads(): Promise<BackendInfo> {
  const reasons: string[] = [];
  for (const name of Object.keys(LOADERS) as BackendInfo["name"][]) {
    // Who takes what there is wants no question about native libraries.
    if (name === "tensorflow" && wouldAskForFfi()) continue;
    try {
      return await take(name);
    } catch (error) {
      reasons.push((error as Error).message);
    }
  }
  throw new Error(reasons.join("; "));
}
