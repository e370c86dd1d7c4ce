import * as tf from "@tensorflow/tfjs";
import { closest } from "fastest-levenshtein";

/** A backend that computes tensors, or `auto` for the first that loads. */
export type BackendName = "auto" | "tensorflow" | "wasm" | "cpu";

/** The backend that was taken. */
export interface BackendInfo {
  /** Name in TensorFlow.js. */
  name: "tensorflow" | "wasm" | "cpu";
  /** One line that names what computes, and where. */
  description: string;
}

async function loadTensorFlow(): Promise<string> {
  const { loadTensorFlowBackend } = await import("./tensorflow/mod.ts");
  return await loadTensorFlowBackend();
}

async function loadWasm(): Promise<string> {
  checkWasmIsReadable();
  await import("@tensorflow/tfjs-backend-wasm");
  const { registerWasmKernels } = await import("./wasm/mod.ts");
  registerWasmKernels();
  return "WebAssembly on one thread";
}

/** Loads a backend; returns what it computes with. */
const LOADERS: Readonly<Record<BackendInfo["name"], () => Promise<string>>> = {
  tensorflow: loadTensorFlow,
  wasm: loadWasm,
  cpu: () => Promise.resolve("plain JavaScript"),
};

// Without this, TensorFlow.js advertises its other packages on the terminal when
// it takes its first backend, which it does unasked as well.
tf.enableProdMode();

async function take(name: BackendInfo["name"]): Promise<BackendInfo> {
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
 * Selects the backend that computes tensors, and makes it ready.
 *
 * `auto` takes the first of `tensorflow`, `wasm` and `cpu` that loads; an
 * explicit request never falls back. The wasm backend gets the kernels that it
 * lacks, so that every network of this library trains on it.
 *
 * @param name Name of the backend.
 * @returns The backend that was taken.
 * @throws {RangeError} If no backend has that name; the message has the
 * nearest.
 * @throws {Error} If the backend cannot be used here, in one line that says
 * why.
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
    // `auto` asks the user nothing about native libraries.
    if (name === "tensorflow" && wouldAskForFfi()) continue;
    try {
      return await take(name);
    } catch (error) {
      reasons.push((error as Error).message);
    }
  }
  throw new Error(reasons.join("; "));
}

/** Returns the package's folder in the npm cache, if it is known. */
function wasmPackage(): string | undefined {
  try {
    const url = new URL(import.meta.resolve("@tensorflow/tfjs-backend-wasm"));
    return url.protocol === "file:" ? new URL(".", url).pathname : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Checks that WebAssembly's binary may be read; at a terminal, Deno asks.
 * Without this check the binary's own loader prints its complaint.
 *
 * @throws {Error} If the permission is not given.
 */
function checkWasmIsReadable(): void {
  const path = wasmPackage();
  if (path === undefined) return;
  const { state } = Deno.permissions.requestSync({ name: "read", path });
  if (state === "granted") return;
  throw new Error(
    `its binary cannot be read: allow it with --allow-read=${path}`,
  );
}

/** True where Deno would ask at the terminal before loading a native library. */
export function wouldAskForFfi(): boolean {
  return Deno.permissions.querySync({ name: "ffi" }).state === "prompt";
}

/**
 * Runs a function on another backend of TensorFlow.js, then switches back. The
 * backend must be one in plain JavaScript: those are ready at once.
 */
export function withBackend<T>(name: string, run: () => T): T {
  const before = tf.getBackend() || "cpu";
  void tf.setBackend(name);
  try {
    return run();
  } finally {
    void tf.setBackend(before);
  }
}
