import { builtin } from "@bellman/files";
import * as tf from "@tensorflow/tfjs";
import { openBinding, type TensorFlowBinding } from "./binding.ts";
import { loadFailure } from "./context.ts";
import {
  environment,
  findNativeLibrary,
  type NativeLibrary,
} from "./library_search.ts";

/**
 * Loads tfjs-node's own addon.
 *
 * @param path The file `tfjs_binding.node`.
 * @throws {Error} If it cannot be loaded.
 */
function openAddon(path: string): TensorFlowBinding {
  try {
    const { createRequire } = builtin("node:module");
    return createRequire(import.meta.url)(path) as TensorFlowBinding;
  } catch (error) {
    throw new Error(
      `Cannot load the TensorFlow addon '${path}': ${loadFailure(error)}`,
    );
  }
}

/** The part of tfjs-node's file `nodejs_kernel_backend.js` that is used. */
interface BackendModule {
  NodeJSKernelBackend: new (
    binding: TensorFlowBinding,
    packageName: string,
  ) => tf.KernelBackend;
}

/** The kernels call functions that recent versions of `node:util` dropped. */
function restoreUtil(): void {
  const target = builtin("node:util") as unknown as Record<string, unknown>;
  target.isNullOrUndefined ??= (value: unknown) =>
    value === null || value === undefined;
  target.isArray ??= Array.isArray;
}

/**
 * The package with the kernels. Deno fetches what is imported by name, needed or
 * not, so this name is put together where the backend is asked for.
 */
const KERNELS = "@tensorflow/tfjs-node-gpu@4.22.0";
/** What it brings to an empty cache, in megabytes. */
const KERNELS_MEGABYTES = 290;

/**
 * Registers tfjs-node's kernels and gives what makes their backend. Only the
 * files of the kernels are loaded: the package's entry wants its addon.
 */
async function loadKernels(): Promise<
  (binding: TensorFlowBinding) => tf.KernelBackend
> {
  restoreUtil();
  const [{ default: module }] = await Promise.all(
    ["nodejs_kernel_backend", "register_all_kernels"]
      .map((file) => import(`npm:${KERNELS}/dist/${file}.js`)),
  ) as [{ default: BackendModule }, unknown];
  return (binding) =>
    new module.NodeJSKernelBackend(
      binding,
      binding.isUsingGpuDevice()
        ? "@tensorflow/tfjs-node-gpu"
        : "@tensorflow/tfjs-node",
    );
}

const SYMBOLS = {
  dup: { parameters: ["i32"], result: "i32" },
  dup2: { parameters: ["i32", "i32"], result: "i32" },
  close: { parameters: ["i32"], result: "i32" },
  creat: { parameters: ["buffer", "u32"], result: "i32" },
} as const satisfies Deno.ForeignLibraryInterface;

const C_LIBRARIES: Partial<Record<typeof Deno.build.os, string>> = {
  linux: "libc.so.6",
  darwin: "libSystem.dylib",
};

const STANDARD_ERROR = 2;

function openCLibrary(): Deno.DynamicLibrary<typeof SYMBOLS> | undefined {
  const name = C_LIBRARIES[Deno.build.os];
  try {
    return name ? Deno.dlopen(name, SYMBOLS) : undefined;
  } catch {
    // Another C library: what is run is heard.
    return undefined;
  }
}

/**
 * Runs something with the process's standard error sent nowhere. TensorFlow
 * greets there from native code as it starts, whatever log level is set.
 */
function quietly<T>(run: () => T): T {
  const library = openCLibrary();
  if (!library) return run();
  const { dup, dup2, close, creat } = library.symbols;
  const saved = dup(STANDARD_ERROR);
  const nowhere = creat(new TextEncoder().encode("/dev/null\0"), 0o666);
  if (saved >= 0 && nowhere >= 0) dup2(nowhere, STANDARD_ERROR);
  if (nowhere >= 0) close(nowhere);
  try {
    return run();
  } finally {
    if (saved >= 0) {
      dup2(saved, STANDARD_ERROR);
      close(saved);
    }
    library.close();
  }
}

const BACKEND_NAME = "tensorflow";

let loading: Promise<string> | undefined;

/** Returns the threads that the environment asks for; 0 is TensorFlow's choice. */
function threadsAskedFor(): number {
  const text = environment("BELLMAN_TENSORFLOW_THREADS") ?? "0";
  const threads = Number(text);
  if (Number.isInteger(threads) && threads >= 0) return threads;
  throw new RangeError(
    `Cannot use ${text} TensorFlow threads: ` +
      "wanted a whole number from 0 on",
  );
}

const LOG_LEVEL = "TF_CPP_MIN_LOG_LEVEL";

const SILENT = "3";

/** True where another log level is set: TensorFlow is to be heard then. */
function wantsLogs(): boolean {
  return (environment(LOG_LEVEL) ?? SILENT) !== SILENT;
}

/** Sets the environment that the library reads when it is opened. */
function setEnvironment(threads: number): void {
  const wanted: Record<string, string> = { [LOG_LEVEL]: SILENT };
  if (threads > 0) {
    // The addon takes no other settings.
    wanted.TF_NUM_INTRAOP_THREADS = `${threads}`;
    wanted.TF_NUM_INTEROP_THREADS = `${threads}`;
  }
  try {
    for (const [name, value] of Object.entries(wanted)) {
      if (!Deno.env.has(name)) Deno.env.set(name, value);
    }
  } catch {
    // No permission to set it: TensorFlow keeps its own settings.
  }
}

function open(
  { kind, path }: NativeLibrary,
  threads: number,
): TensorFlowBinding {
  const start = () =>
    kind === "addon" ? openAddon(path) : openBinding(path, threads);
  if (wantsLogs()) return start();
  setEnvironment(threads);
  return quietly(start);
}

async function load(onNotice: (line: string) => void): Promise<string> {
  const threads = threadsAskedFor();
  const library = findNativeLibrary();
  if (!library) {
    throw new Error(
      "no TensorFlow library was found: run `deno task install-tensorflow` " +
        "or set BELLMAN_LIBTENSORFLOW to its file",
    );
  }
  const binding = open(library, threads);
  onNotice(
    `Loading npm's ${KERNELS}: ${KERNELS_MEGABYTES} MB are fetched the first time`,
  );
  const create = await loadKernels();
  if (!tf.findBackend(BACKEND_NAME)) {
    tf.registerBackend(BACKEND_NAME, () => create(binding), 3);
  }
  const device = binding.isUsingGpuDevice() ? "GPU" : "CPU";
  return `TensorFlow ${binding.TF_Version} on ${device}, ${library.path}`;
}

/**
 * Loads the native TensorFlow backend and registers it as `tensorflow`;
 * `tf.setBackend("tensorflow")` then makes it the current one. It runs
 * tfjs-node's kernels, over its addon where that is installed and otherwise
 * over any library with TensorFlow's C interface. The first call decides: later
 * ones give the same backend. A failed call can be repeated.
 *
 * Needs the permissions `--allow-ffi` and `--allow-read`, and `--allow-env` for
 * its settings.
 *
 * @param onNotice Takes the line that says what is fetched from npm.
 * @returns One line about it: version, device, and where the library lies.
 * @throws {Error} If there is no library or it cannot be used, in one line.
 * @throws {RangeError} If the number of threads is not a whole number.
 */
export function loadTensorFlowBackend(
  onNotice: (line: string) => void = () => {},
): Promise<string> {
  return loading ??= load(onNotice).catch((error) => {
    loading = undefined;
    throw error;
  });
}
