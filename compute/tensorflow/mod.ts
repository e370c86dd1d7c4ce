import * as tf from "@tensorflow/tfjs";
import { openAddon } from "./addon.ts";
import { openBinding, type TensorFlowBinding } from "./binding.ts";
import { loadKernels } from "./kernels.ts";
import {
  findNativeLibrary,
  type LibraryRequest,
  type NativeLibrary,
} from "./library_search.ts";
import { quietly } from "./quiet.ts";

export type { LibraryRequest } from "./library_search.ts";

/** How the native backend is loaded. */
export interface TensorFlowOptions extends LibraryRequest {
  /**
   * Threads that TensorFlow may use, in and between operations.
   *
   * @default what BELLMAN_TENSORFLOW_THREADS says, or else TensorFlow's choice
   */
  threads?: number;
}

/** The backend that was loaded. */
export interface TensorFlowBackend {
  /** Its name, as TensorFlow.js knows it. */
  name: "tensorflow";
  /** One line about it: version, device, and where the library lies. */
  description: string;
}

const BACKEND_NAME = "tensorflow";

let loading: Promise<TensorFlowBackend> | undefined;

function threadsOf(options: TensorFlowOptions): number {
  let text: string | undefined;
  try {
    text = Deno.env.get("BELLMAN_TENSORFLOW_THREADS");
  } catch {
    // No permission to read it: TensorFlow chooses.
  }
  const threads = options.threads ?? (text ? Number(text) : 0);
  if (Number.isInteger(threads) && threads >= 0) return threads;
  throw new RangeError(
    `Cannot use ${options.threads ?? text} TensorFlow threads: ` +
      "wanted a whole number from 0 on",
  );
}

const LOG_LEVEL = "TF_CPP_MIN_LOG_LEVEL";

const SILENT = "3";

/** Who sets another log level wants to hear TensorFlow. */
function wantsLogs(): boolean {
  try {
    return (Deno.env.get(LOG_LEVEL) ?? SILENT) !== SILENT;
  } catch {
    return false;
  }
}

/** The library reads its environment when it is opened. */
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

function describe(binding: TensorFlowBinding, library: NativeLibrary): string {
  const device = binding.isUsingGpuDevice() ? "GPU" : "CPU";
  return `TensorFlow ${binding.TF_Version} on ${device}, ${library.path}`;
}

async function load(options: TensorFlowOptions): Promise<TensorFlowBackend> {
  const threads = threadsOf(options);
  const library = findNativeLibrary(options);
  if (!library) {
    throw new Error(
      "no TensorFlow library was found: run `deno task install-tensorflow` " +
        "or set BELLMAN_LIBTENSORFLOW to its file",
    );
  }
  const binding = open(library, threads);
  const create = await loadKernels();
  if (!tf.findBackend(BACKEND_NAME)) {
    tf.registerBackend(BACKEND_NAME, () => create(binding), 3);
  }
  return { name: BACKEND_NAME, description: describe(binding, library) };
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
 * @throws {Error} If there is no library or it cannot be used, in one line.
 * @throws {RangeError} If the number of threads is none.
 */
export function loadTensorFlowBackend(
  options: TensorFlowOptions = {},
): Promise<TensorFlowBackend> {
  loading ??= load(options).catch((error) => {
    loading = undefined;
    throw error;
  });
  return loading;
}
