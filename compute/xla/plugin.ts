import { builtin, cString } from "@bellman/files";
import { CStruct } from "./c_struct.ts";
import {
  API,
  API_BYTES,
  ARGS_BYTES,
  ERROR_CODES,
  FUNCTIONS,
  OLDEST_MINOR,
  type PjrtFunction,
  STRUCTS,
  SUBJECT,
  VERSION_BYTES,
} from "./pjrt_api.ts";

/**
 * An error of a plugin, in one line with the plugin's message: mostly about
 * programs, devices and memory that a person chose.
 *
 * @example
 * ```ts
 * import { isXlaInstalled, openXla, XlaError } from "@bellman/compute/xla";
 * import { assertThrows } from "@std/assert";
 *
 * if (isXlaInstalled()) {
 *   using client = openXla();
 *   const broken = "func.func @main() -> tensor<f32> {\n}";
 *   assertThrows(() => client.compile(broken), XlaError, "Cannot compile");
 * }
 * ```
 */
export class XlaError extends RangeError {
  /** Name of the class. */
  override readonly name = "XlaError";
  /** Its code, such as `RESOURCE_EXHAUSTED` or `INVALID_ARGUMENT`. */
  readonly code: string;
  /** The plugin's message, in one line. */
  readonly words: string;

  /**
   * Makes an error.
   *
   * @param action Action that failed, such as `compile the program`.
   * @param code Code of the error.
   * @param words The plugin's message.
   */
  constructor(action: string, code: string, words: string) {
    super(`Cannot ${action}: ${code}: ${inOneLine(words)}`);
    this.code = code;
    this.words = inOneLine(words);
  }
}

const LONGEST_MESSAGE = 1000;

function inOneLine(words: string): string {
  const line = words.trim().replaceAll(/\s*\n\s*/g, " ");
  return line.length > LONGEST_MESSAGE
    ? `${line.slice(0, LONGEST_MESSAGE)} ...`
    : line;
}

/**
 * V8 calls functions of `buffer`, `u32` and `pointer` that return `u8` without a
 * detour. A `usize` wants a bigint: a number takes ten times as long.
 */
const LIBC = {
  dlopen: { parameters: ["buffer", "i32"], result: "pointer" },
  dlerror: { parameters: [], result: "pointer" },
  setenv: { parameters: ["buffer", "buffer", "i32"], result: "i32" },
  mallopt: { parameters: ["i32", "i32"], result: "i32" },
  lfind: {
    parameters: ["buffer", "buffer", "buffer", "u32", "pointer"],
    result: "u8",
  },
  memcpy: { parameters: ["buffer", "pointer", "usize"], result: "void" },
} as const;

/** The functions of libc that are called. */
type Libc = Deno.DynamicLibrary<typeof LIBC>["symbols"];

/** CUDA's libraries, in the order in which JAX opens them. */
const CUDA_LIBRARIES: readonly string[] = [
  "cu13/lib/libcudart.so.13",
  "cu13/lib/libnvrtc.so.13",
  "cu13/lib/libcublasLt.so.13",
  "cu13/lib/libcublas.so.13",
  "nccl/lib/libnccl.so.2",
  "cu13/lib/libcupti.so.13",
  "cu13/lib/libcusparse.so.12",
  "cu13/lib/libcusolver.so.12",
  "cu13/lib/libcufft.so.12",
  "nvshmem/lib/libnvshmem_host.so.3",
  "cudnn/lib/libcudnn.so.9",
];

const RTLD_NOW = 2, RTLD_NODELETE = 0x1000;
/** Level of the plugin's log that only tells why a process ends. */
const ONLY_FATAL = "3";

/** Settings of `malloc`: bytes that are kept, or taken from the heap. */
const M_TRIM_THRESHOLD = -1, M_MMAP_THRESHOLD = -3;
/** By default 32 MiB or less, and larger buffers are new pages in each call. */
const KEPT_BYTES = 1 << 28;

/** One byte for `lfind` to look at; its address does not end in a zero byte. */
const ELEMENT = new Uint8Array(new ArrayBuffer(64), 1, 1);
/** Number of elements that `lfind` looks at, a `size_t`. */
const ONE = Uint32Array.from([1, 0]);

/** Returns a struct of arguments with its size in the first field. */
export function newArguments(): CStruct {
  return new CStruct(ARGS_BYTES).set(0, ARGS_BYTES);
}

/** A function of a plugin that takes a struct of arguments. */
export type PluginCall = (args: CStruct) => void;

const opened = new Map<string, XlaPlugin>();

/**
 * A loaded PJRT plugin: a library with one function that returns a table of
 * functions. Each takes a struct of arguments, writes its results into it, and
 * returns an error or null.
 */
export class XlaPlugin {
  /** File of the library. */
  readonly path: string;
  /** Version of the PJRT API that it was built with. */
  readonly version: { readonly major: number; readonly minor: number };
  readonly #libc: Libc;
  readonly #api: Deno.UnsafePointerView;
  readonly #exact = new Map<
    PjrtFunction,
    (args: CStruct) => Deno.PointerValue
  >();

  private constructor(
    path: string,
    libc: Libc,
    api: Deno.PointerObject,
  ) {
    this.path = path;
    this.#libc = libc;
    this.#api = new Deno.UnsafePointerView(api);
    this.version = {
      major: this.#api.getInt32(API.major),
      minor: this.#api.getInt32(API.minor),
    };
    const { major, minor } = this.version;
    const bytes = [
      this.#api.getBigUint64(API.structSize),
      this.#api.getBigUint64(API.versionSize),
    ].map(Number);
    const problem = problemOfApi(major, minor, bytes);
    if (problem === undefined) return;
    throw new RangeError(`Cannot use the XLA plugin '${path}': ${problem}`);
  }

  /**
   * Loads a plugin, once a process: it stays until the process ends.
   *
   * @param path File of the library.
   * @throws {RangeError} If it cannot be loaded, is no plugin, or has an API that
   * is too old, in one line.
   * @throws {Deno.errors.NotCapable} If `--allow-ffi` is not given, or only for
   * some paths: the library's pointers are followed.
   */
  static open(path: string): XlaPlugin {
    const known = opened.get(path);
    if (known !== undefined) return known;
    checkPermission(path);
    const libc = openLibc(path);
    // Its log goes to stderr; errors come by the API.
    libc.setenv(cString("TF_CPP_MIN_LOG_LEVEL"), cString(ONLY_FATAL), 0);
    libc.mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
    libc.mallopt(M_MMAP_THRESHOLD, KEPT_BYTES);
    openCudaLibraries(libc, path);
    // Deno unloads libraries when it ends, and the plugin's threads and
    // destructors would then run code that is gone: this reference stays.
    if (libc.dlopen(cString(path), RTLD_NOW | RTLD_NODELETE) === null) {
      const why = libc.dlerror();
      fail(path, why === null ? "" : Deno.UnsafePointerView.getCString(why));
    }
    const plugin = new XlaPlugin(path, libc, tableOf(path));
    plugin.call("PJRT_Plugin_Initialize", newArguments(), "start the plugin");
    opened.set(path, plugin);
    return plugin;
  }

  /**
   * Calls a function, in some 0.8 us.
   *
   * @param name Name of the function.
   * @param args Its arguments.
   * @param action Words for the error: `Cannot ACTION: ...`.
   * @throws {XlaError} If it fails.
   */
  call(name: PjrtFunction, args: CStruct, action: string): void {
    let exact = this.#exact.get(name);
    if (exact === undefined) {
      const { call } = functionAt(this.#pointerTo(name));
      this.#exact.set(name, exact = (args) => call(args.words));
    }
    const error = exact(args);
    if (error !== null) throw this.#toError(action, error);
  }

  /**
   * Returns a function for hot loops, of some 0.03 us a call. V8 calls symbols
   * of `Deno.dlopen` without a detour but has no such way for pointers: `lfind`
   * of libc calls one with its first two arguments and says if it returned 0,
   * as far as an `int` goes: the low half of an error's address, never 0 alone.
   *
   * A failure's error is lost (it leaks some hundred bytes), so the function is
   * called again for its message; if that succeeds, nothing is thrown. Not for
   * functions that use up their arguments before they fail: programs that donate.
   *
   * @param name Name of the function.
   * @param action Words for the error: `Cannot ACTION: ...`.
   */
  fast(name: PjrtFunction, action: string): PluginCall {
    const { lfind } = this.#libc;
    const pointer = this.#pointerTo(name);
    return (args) => {
      if (lfind(args.words, ELEMENT, ONE, 1, pointer) === 0) {
        this.call(name, args, action);
      }
    };
  }

  /** Copies from an address into an array. */
  copy(from: number, to: ArrayBufferView<ArrayBuffer>): void {
    const source = Deno.UnsafePointer.create(BigInt(from));
    this.#libc.memcpy(to, source, BigInt(to.byteLength));
  }

  #pointerTo(name: PjrtFunction): Deno.PointerObject {
    return this.#api.getPointer(API.functions + 8 * FUNCTIONS[name])!;
  }

  /** Reads an error and frees it. */
  #toError(action: string, error: Deno.PointerObject): XlaError {
    const address = Number(Deno.UnsafePointer.value(error));
    const ask = (name: PjrtFunction): CStruct => {
      const args = newArguments().set(SUBJECT, address);
      functionAt(this.#pointerTo(name)).call(args.words);
      return args;
    };
    const { PJRT_Error_Message_Args, PJRT_Error_GetCode_Args } = STRUCTS;
    const words = ask("PJRT_Error_Message")
      .text(PJRT_Error_Message_Args.message);
    const code = ask("PJRT_Error_GetCode").int32(PJRT_Error_GetCode_Args.code);
    ask("PJRT_Error_Destroy");
    return new XlaError(action, ERROR_CODES[code] ?? `CODE ${code}`, words);
  }
}

/** Returns a function that takes a struct; those without a result return junk. */
function functionAt(pointer: Deno.PointerObject) {
  const definition = { parameters: ["buffer"], result: "pointer" } as const;
  const typed = pointer as Deno.PointerObject<typeof definition>;
  const made = new Deno.UnsafeFnPointer(typed, definition);
  return { call: (args: BufferSource) => made.call(args) };
}

/**
 * Describes why an API cannot be used.
 *
 * @param major Its major version.
 * @param minor Its minor version.
 * @param bytes Sizes of its table and of the version inside, as it tells them.
 * @returns The problem; undefined for none.
 */
export function problemOfApi(
  major: number,
  minor: number,
  [bytes, versionBytes]: readonly number[],
): string | undefined {
  if (major !== 0 || minor < OLDEST_MINOR) {
    return `it has PJRT API ${major}.${minor}, expected 0.${OLDEST_MINOR} or newer`;
  }
  if (bytes >= API_BYTES && versionBytes === VERSION_BYTES) return undefined;
  return `its API's table has ${bytes} bytes (${versionBytes} of the version), expected ${API_BYTES} or more (${VERSION_BYTES})`;
}

function fail(path: string, why: string): never {
  const [line] = why.replace(`${path}: `, "").split("\n");
  throw new RangeError(`Cannot load the XLA plugin '${path}': ${line}`);
}

/** With a path the library opens, and the first pointer cannot be followed. */
function checkPermission(path: string): void {
  if (Deno.permissions.querySync({ name: "ffi" }).state === "granted") return;
  throw new Deno.errors.NotCapable(
    `Cannot load the XLA plugin '${path}': it needs the permission --allow-ffi, without a path`,
  );
}

function openLibc(path: string) {
  if (Deno.build.os === "linux") return Deno.dlopen("libc.so.6", LIBC).symbols;
  fail(path, `expected Linux, not ${Deno.build.os}`);
}

/**
 * Opens CUDA's libraries where they lie around a plugin, as in the packages of a
 * Python: the plugin asks for them by their names when it starts a client.
 */
function openCudaLibraries(libc: Libc, path: string): void {
  if (!/cuda[^/]*$/.test(path)) return;
  for (const name of CUDA_LIBRARIES) {
    // Those that are not there may be the system's.
    libc.dlopen(
      cString(`${cudaPackages(path)}/${name}`),
      RTLD_NOW | RTLD_NODELETE,
    );
  }
}

/** Returns the folder with CUDA's packages around a plugin in a Python's. */
export function cudaPackages(plugin: string): string {
  return builtin("node:path").resolve(plugin, "../../../nvidia");
}

/** Returns the table of functions. */
function tableOf(path: string): Deno.PointerObject {
  let table: Deno.PointerValue;
  try {
    const { symbols } = Deno.dlopen(path, {
      GetPjrtApi: { parameters: [], result: "pointer" },
    });
    table = symbols.GetPjrtApi();
  } catch {
    fail(path, "expected a PJRT plugin, which has a function GetPjrtApi");
  }
  return table ?? fail(path, "its GetPjrtApi returns nothing");
}
