/** The part of ONNX Runtime's C interface that compiled functions need. */
import metadata from "onnxruntime-node/package.json" with { type: "json" };

/** Folder and file of the library in the npm package, by platform. */
const PLATFORMS: Readonly<Record<string, { folder: string; file: string }>> = {
  linux: { folder: "linux", file: "libonnxruntime.so.1" },
  darwin: { folder: "darwin", file: "libonnxruntime.1.dylib" },
  windows: { folder: "win32", file: "onnxruntime.dll" },
};

const MACHINES: Readonly<Record<typeof Deno.build.arch, string>> = {
  x86_64: "x64",
  aarch64: "arm64",
};

/** Version of the package whose library is used. */
export const RUNTIME_VERSION: string = metadata.version;

/**
 * Finds the library's file: that of `BELLMAN_ONNXRUNTIME` where it is set, else
 * the one that the npm package carries.
 *
 * @throws {Error} If there is none for this platform, in one line.
 */
export function libraryPath(): string {
  const chosen = environment("BELLMAN_ONNXRUNTIME");
  if (chosen !== undefined) return chosen;
  const platform = PLATFORMS[Deno.build.os];
  if (platform === undefined) {
    throw new Error(`ONNX Runtime has no library for ${Deno.build.os}`);
  }
  const { folder, file } = platform;
  const url = new URL(
    `bin/napi-v6/${folder}/${MACHINES[Deno.build.arch]}/${file}`,
    import.meta.resolve("onnxruntime-node/package.json"),
  );
  if (url.protocol !== "file:") {
    throw new Error("the npm package onnxruntime-node is in no local folder");
  }
  const path = decodeURIComponent(url.pathname);
  return Deno.build.os === "windows" ? path.slice(1) : path;
}

function environment(name: string): string | undefined {
  const asked = { name: "env", variable: name } as const;
  // Without the permission, reading it would ask for it at the terminal.
  if (Deno.permissions.querySync(asked).state !== "granted") return undefined;
  return Deno.env.get(name) || undefined;
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

type ArgumentOf<T> = T extends "pointer" ? Deno.PointerValue
  : T extends "buffer" ? BufferSource
  : T extends "usize" ? bigint
  : number;

type Arguments<Parameters extends readonly unknown[]> = {
  -readonly [I in keyof Parameters]: ArgumentOf<Parameters[I]>;
};

/** The functions, by name. */
export type Api = {
  readonly [K in keyof Functions]: (
    ...args: Arguments<Functions[K][1]>
  ) => Deno.PointerValue;
};

/** Version of the table that is requested: new enough for all of these. */
const API_VERSION = 17;

const encoder = new TextEncoder();

/** Encodes text as bytes that end in zero. */
export function cString(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text + "\0");
}

let loaded: Api | undefined;

/**
 * Returns the functions of the library, loaded at the first call.
 *
 * @throws {Error} If the library is missing or may not be loaded.
 */
export function loadApi(): Api {
  return loaded ??= bindFunctions(functionTable(libraryPath()));
}

function functionTable(path: string): Deno.UnsafePointerView {
  const { symbols } = Deno.dlopen(path, {
    OrtGetApiBase: { parameters: [], result: "pointer" },
    setenv: {
      parameters: ["buffer", "buffer", "i32"],
      result: "i32",
      optional: true,
    },
  });
  // Else the library sends reports of its use over the network, which Deno's
  // permissions do not reach, and writes an id into the user's cache. A value
  // that the user sets is kept.
  symbols.setenv?.(cString("ORT_DISABLE_TELEMETRY"), cString("1"), 0);
  const base = new Deno.UnsafePointerView(symbols.OrtGetApiBase()!);
  const getApi = new Deno.UnsafeFnPointer(
    base.getPointer(0) as Deno.PointerObject<never>,
    { parameters: ["u32"], result: "pointer" } as const,
  );
  const table = getApi.call(API_VERSION);
  if (table === null) {
    throw new Error(`${path} is older than version 1.${API_VERSION}`);
  }
  return new Deno.UnsafePointerView(table);
}

function bindFunctions(table: Deno.UnsafePointerView): Api {
  const api: Record<string, unknown> = {};
  for (const name in FUNCTIONS) {
    const [index, parameters, result] = FUNCTIONS[name as keyof Functions];
    const bound = new Deno.UnsafeFnPointer(
      table.getPointer(8 * index) as Deno.PointerObject<never>,
      { parameters, result } as never,
    );
    api[name] = bound.call.bind(bound);
  }
  return api as Api;
}

/** Throws the error of a status, in one line. */
export function check(status: Deno.PointerValue): void {
  if (status === null) return;
  const api = loadApi();
  const message = api.GetErrorMessage(status);
  const text = Deno.UnsafePointerView.getCString(message!);
  api.ReleaseStatus(status);
  throw new Error(`ONNX Runtime: ${text.split("\n")[0]}`);
}

/** Returns the object that a function makes. */
export function create(
  make: (slot: BigUint64Array<ArrayBuffer>) => Deno.PointerValue,
): Deno.PointerObject {
  const slot = new BigUint64Array(1);
  check(make(slot));
  const pointer = Deno.UnsafePointer.create(slot[0]);
  if (pointer === null) throw new Error("ONNX Runtime returned no object");
  return pointer;
}
