import { defineCommonJs } from "./commonjs.ts";
import { isDeno, permissionState } from "@bellman/files";
import { hintAt, refuseUnknown } from "@bellman/files/options";
import { MathBackendCPU } from "@tensorflow/tfjs-backend-cpu";
import * as tf from "./tf.ts";

/** A backend that computes tensors, or `auto` for `wasm`, else `cpu`. */
export type BackendName = "auto" | "tensorflow" | "wasm" | "cpu";

/** The backend that was taken. */
export interface BackendInfo {
  /** Name in TensorFlow.js. */
  name: "tensorflow" | "wasm" | "cpu";
  /** One line that names what computes, and where. */
  description: string;
}

/** Options of {@linkcode selectBackend}. */
export interface BackendOptions {
  /**
   * Folder of WebAssembly's binaries: those in `dist` of npm's
   * `@tensorflow/tfjs-backend-wasm`.
   *
   * @default the package's own; in pages that of the page or the worker
   */
  readonly wasmPaths?: string | URL;
  /**
   * Takes lines that say what a backend fetches from npm, and why `auto` computes
   * in plain JavaScript.
   *
   * @default console.warn
   */
  readonly onNotice?: (line: string) => void;
}

async function loadTensorFlow(
  { onNotice = warn }: BackendOptions,
): Promise<string> {
  if (!isDeno()) throw new Error("it needs Deno");
  const { loadTensorFlowBackend } = await import("./tensorflow/mod.ts");
  return await loadTensorFlowBackend(onNotice);
}

async function loadWasm({ wasmPaths }: BackendOptions): Promise<string> {
  const { loadWasmBackend } = await import("./wasm/load.ts");
  return await loadWasmBackend(wasmPaths);
}

/** Loads a backend; returns what it computes with. */
const LOADERS: Readonly<
  Record<BackendInfo["name"], (options: BackendOptions) => Promise<string>>
> = {
  tensorflow: loadTensorFlow,
  wasm: loadWasm,
  cpu: () => Promise.resolve("plain JavaScript"),
};

// It registers itself; bundles for Node lack it unless something of it is used.
if (!tf.findBackendFactory("cpu")) {
  tf.registerBackend("cpu", () => new MathBackendCPU());
}

// Without this, TensorFlow.js advertises its other packages on the terminal when
// it takes its first backend, which it does unasked as well.
tf.enableProdMode();

async function take(
  name: BackendInfo["name"],
  options: BackendOptions,
): Promise<BackendInfo> {
  const removeCommonJs = defineCommonJs();
  try {
    const description = await LOADERS[name](options);
    if (!await tf.setBackend(name)) throw new Error("it did not initialise");
    isUnselected = false;
    return { name, description: `${name} (${description})` };
  } catch (error) {
    const reason = (error as Error).message.split("\n")[0];
    throw new Error(`Cannot use the ${name} backend: ${reason}`);
  } finally {
    removeCommonJs();
  }
}

/**
 * Selects the backend that computes tensors, and makes it ready.
 *
 * `auto` takes `wasm`, or `cpu` where that does not load; an explicit request never
 * falls back. `tensorflow`, in Deno alone, is the native library, and its kernels
 * are fetched from npm when it is asked for. The wasm backend gets the kernels that it
 * lacks, so that every network of this library trains on it.
 *
 * @param name Name of the backend.
 * @param options Place of WebAssembly's binaries, callback for notices.
 * @returns The backend that was taken.
 * @throws {RangeError} If no backend has that name; the message has the
 * nearest.
 * @throws {Error} If the backend cannot be used here, in one line that says
 * why.
 * @example
 * ```ts
 * import { selectBackend } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { assertEquals } from "@std/assert";
 *
 * const { name } = await selectBackend("wasm");
 * assertEquals(name, "wasm");
 * assertEquals(tf.getBackend(), "wasm");
 * ```
 */
export async function selectBackend(
  name: BackendName = "auto",
  options: BackendOptions = {},
): Promise<BackendInfo> {
  refuseUnknown(options, ["onNotice", "wasmPaths"], "selectBackend");
  if (name === "auto") return await firstThatLoads(options);
  if (Object.hasOwn(LOADERS, name)) return await take(name, options);
  const names = ["auto", ...Object.keys(LOADERS)];
  throw new RangeError(
    `Unknown backend '${name}': ${hintAt(String(name), names)}`,
  );
}

/** Prints a notice. */
export function warn(line: string): void {
  // deno-lint-ignore no-console -- notices go there by default
  console.warn(line);
}

async function firstThatLoads(options: BackendOptions): Promise<BackendInfo> {
  try {
    return await take("wasm", options);
  } catch (error) {
    const { message } = error as Error, { onNotice = warn } = options;
    onNotice(
      `${SLOW}: ${message.replace("Cannot use the wasm backend: ", "")}`,
    );
    return await take("cpu", options);
  }
}

/** Begins the notices about `cpu`: A2C and PPO take 4 times as long, DQN 17. */
const SLOW =
  "Computing in plain JavaScript, 4 to 17 times slower than WebAssembly";

/** True where nobody has selected a backend: TensorFlow.js then takes `cpu`. */
let isUnselected: boolean | undefined;
let isNoticed = false;

/** Looks whether a backend is selected, before anything is computed. */
export function isBackendUnselected(): boolean {
  return isUnselected ??= !tf.getBackend();
}

/**
 * Selects the backend `auto`, unless one was selected. Agents await it before they
 * are trained eagerly.
 *
 * @param options As of {@linkcode selectBackend}.
 * @example
 * ```ts
 * import { ensureBackend, selectBackend } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { assertEquals } from "@std/assert";
 *
 * await selectBackend("cpu");
 * await ensureBackend();
 * assertEquals(tf.getBackend(), "cpu");
 * ```
 */
export async function ensureBackend(
  options: BackendOptions = {},
): Promise<void> {
  if (isBackendUnselected()) await selectBackend("auto", options);
}

/**
 * Says, once in a process, that nobody has selected a backend for what computes
 * eagerly.
 *
 * @param onNotice Takes the line, `console.warn` by default.
 * @example
 * ```ts
 * import { noticeNoBackend, selectBackend } from "@bellman/compute";
 *
 * await selectBackend("cpu");
 * noticeNoBackend(() => {
 *   throw new Error("a backend is selected");
 * });
 * ```
 */
export function noticeNoBackend(
  onNotice: (line: string) => void = warn,
): void {
  if (isNoticed || !isBackendUnselected()) return;
  isNoticed = true;
  onNotice(
    `${SLOW}: no backend is selected, expected 'await selectBackend()' of @bellman/compute first`,
  );
}

/** True where Deno would ask at the terminal before loading a native library. */
export function wouldAskForFfi(): boolean {
  return permissionState({ name: "ffi" }) === "prompt";
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
