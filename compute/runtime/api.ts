/** The part of ONNX Runtime's C interface that compiled functions need. */
import {
  builtin,
  cString,
  environmentVariable,
  permissionState,
} from "@bellman/files";
import {
  type Native,
  native,
  type NativeFunction,
  type Pointer,
} from "./native.ts";
import { packageFile } from "./npm_packages.ts";

/** File of the library in the npm package, by platform. */
const FILES: Readonly<Record<string, string>> = {
  linux: "libonnxruntime.so.1",
  darwin: "libonnxruntime.1.dylib",
  win32: "onnxruntime.dll",
};

/**
 * Finds the library's file: that of `BELLMAN_ONNXRUNTIME` where it is set, else
 * the one that the npm package carries.
 *
 * @throws {Error} If there is none for this platform, in one line.
 */
export function libraryPath(): string {
  const chosen = environment("BELLMAN_ONNXRUNTIME");
  if (chosen !== undefined) return chosen;
  const { platform, arch } = builtin("node:process");
  const file = FILES[platform];
  if (file === undefined) {
    throw new Error(`ONNX Runtime has no library for ${platform}`);
  }
  const manifest = packageFile("onnxruntime-node/package.json");
  if (manifest === undefined) {
    throw new Error("the npm package onnxruntime-node is in no local folder");
  }
  const { dirname, join } = builtin("node:path");
  return join(dirname(manifest), "bin", "napi-v6", platform, arch, file);
}

function environment(variable: string): string | undefined {
  // Without the permission, reading it would ask for it at the terminal.
  const mayRead = permissionState({ name: "env", variable }) === "granted";
  return mayRead ? environmentVariable(variable) : undefined;
}

/**
 * Places in the table of functions `OrtApi`, whose order never changes, with
 * the functions' types (onnxruntime_c_api.h). Most return a status, null where
 * all went well.
 */
const FUNCTIONS = {
  GetErrorMessage: [2, ["pointer"], "pointer"],
  CreateEnv: [3, ["i32", "buffer", "buffer"], "pointer"],
  CreateSessionFromArray: [
    8,
    ["pointer", "buffer", "usize", "pointer", "buffer"],
    "pointer",
  ],
  CreateSessionOptions: [10, ["buffer"], "pointer"],
  SetSessionGraphOptimizationLevel: [23, ["pointer", "i32"], "pointer"],
  SetIntraOpNumThreads: [24, ["pointer", "i32"], "pointer"],
  CreateRunOptions: [39, ["buffer"], "pointer"],
  CreateTensorWithDataAsOrtValue: [
    49,
    ["pointer", "buffer", "usize", "buffer", "usize", "i32", "buffer"],
    "pointer",
  ],
  CreateCpuMemoryInfo: [69, ["i32", "i32", "buffer"], "pointer"],
  ReleaseStatus: [93, ["pointer"], "void"],
  ReleaseSession: [95, ["pointer"], "void"],
  ReleaseValue: [96, ["pointer"], "void"],
  ReleaseSessionOptions: [100, ["pointer"], "void"],
  AddSessionConfigEntry: [130, ["pointer", "buffer", "buffer"], "pointer"],
  RunWithBinding: [133, ["pointer", "pointer", "pointer"], "pointer"],
  CreateIoBinding: [134, ["pointer", "buffer"], "pointer"],
  ReleaseIoBinding: [135, ["pointer"], "void"],
  BindInput: [136, ["pointer", "buffer", "pointer"], "pointer"],
  BindOutput: [137, ["pointer", "buffer", "pointer"], "pointer"],
} as const;

type Functions = typeof FUNCTIONS;

/** The functions, by name. */
export type Api = {
  readonly [K in keyof Functions]: NativeFunction<Functions[K][1]>;
};

/** Version of the table that is requested: new enough for all of these. */
const API_VERSION = 17;

/** The library, loaded. */
interface Runtime {
  readonly api: Api;
  readonly version: string;
}

let loaded: Runtime | undefined;

/**
 * Returns the functions of the library, loaded at the first call.
 *
 * @throws {Error} If the library is missing or may not be loaded.
 */
export function loadApi(): Api {
  return (loaded ??= load()).api;
}

/** Returns the library's version, such as `1.30.0`. */
export function runtimeVersion(): string {
  return (loaded ??= load()).version;
}

function load(): Runtime {
  try {
    return openRuntime(native(), libraryPath());
  } catch (error) {
    const { code } = error as { code?: string };
    if (!code?.endsWith("MODULE_NOT_FOUND")) throw error;
    throw new Error(
      "ONNX Runtime needs koffi and onnxruntime-node: npm install koffi onnxruntime-node",
    );
  }
}

/** Places in the table `OrtApiBase`. */
const GET_API = 0;
const GET_VERSION_STRING = 1;

function openRuntime(
  { open, functionAt, text }: Native,
  path: string,
): Runtime {
  const { OrtGetApiBase, setenv } = open(path, {
    OrtGetApiBase: { parameters: [], result: "pointer" },
    setenv: { parameters: ["buffer", "buffer", "i32"], result: "i32" },
  });
  // Else the library sends reports of its use over the network, which Deno's
  // permissions do not reach, and writes an id into the user's cache. A value
  // that the user sets is kept.
  setenv?.(cString("ORT_DISABLE_TELEMETRY"), cString("1"), 0);
  const base = OrtGetApiBase?.();
  if (!base) throw new Error(`${path} is no library of ONNX Runtime`);
  const getVersion = functionAt(base, GET_VERSION_STRING, {
    parameters: [],
    result: "pointer",
  });
  const version = text(getVersion()!);
  const table = functionAt(base, GET_API, {
    parameters: ["u32"],
    result: "pointer",
  })(API_VERSION);
  if (table === null) {
    throw new Error(`${path} is older than version 1.${API_VERSION}`);
  }
  const api = Object.entries(FUNCTIONS).map(([name, it]) => {
    const [place, parameters, result] = it;
    return [name, functionAt(table, place, { parameters, result })];
  });
  return { api: Object.fromEntries(api), version };
}

/** Throws the error of a status, in one line. */
export function check(status: Pointer | null): void {
  if (status === null) return;
  const api = loadApi();
  const message = api.GetErrorMessage(status);
  const text = native().text(message!);
  api.ReleaseStatus(status);
  throw new Error(`ONNX Runtime: ${text.split("\n")[0]}`);
}

/** Returns the object that a function makes. */
export function create(
  make: (slot: BigUint64Array<ArrayBuffer>) => Pointer | null,
): Pointer {
  const slot = new BigUint64Array(1);
  check(make(slot));
  const pointer = native().pointerIn(slot);
  if (pointer === null) throw new Error("ONNX Runtime returned no object");
  return pointer;
}
