import { openLibrary } from "@bellman/files";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

const encoder = new TextEncoder();
const cache = new Map<string, Uint8Array<ArrayBuffer>>();

/**
 * Encodes text as bytes that end in zero, and keeps them: it is given the few
 * names of operations, attributes and devices.
 */
export function cString(text: string): Uint8Array<ArrayBuffer> {
  let bytes = cache.get(text);
  if (!bytes) {
    bytes = encoder.encode(text + "\0");
    cache.set(text, bytes);
  }
  return bytes;
}

/** Reads text that ends in zero from native memory. */
export function readCString(pointer: Deno.PointerValue): string {
  return pointer ? Deno.UnsafePointerView.getCString(pointer) : "";
}

/** Returns the address that a pointer holds. */
export function addressOf(pointer: Deno.PointerValue): bigint {
  return Deno.UnsafePointer.value(pointer);
}

/** Describes a function of the library. */
function native<
  const Parameters extends readonly Deno.NativeType[],
  const Result extends Deno.NativeResultType,
>(parameters: Parameters, result: Result) {
  return { parameters, result };
}

/**
 * The part of TensorFlow's C interface that eager tensors need. Handles of
 * tensors are addresses (`usize`), as `TFE_Execute` writes them to a buffer and
 * a table holds them; objects that live long are pointers.
 */
const SYMBOLS = {
  TF_Version: native([], "pointer"),
  TF_NewStatus: native([], "pointer"),
  TF_GetCode: native(["pointer"], "i32"),
  TF_Message: native(["pointer"], "pointer"),

  TF_AllocateTensor: native(["i32", "buffer", "i32", "usize"], "pointer"),
  TF_DeleteTensor: native(["pointer"], "void"),
  TF_TensorData: native(["pointer"], "pointer"),
  TF_TensorByteSize: native(["pointer"], "usize"),

  TFE_NewContextOptions: native([], "pointer"),
  TFE_ContextOptionsSetConfig: native(
    ["pointer", "buffer", "usize", "pointer"],
    "void",
  ),
  TFE_DeleteContextOptions: native(["pointer"], "void"),
  TFE_NewContext: native(["pointer", "pointer"], "pointer"),
  TFE_ContextListDevices: native(["pointer", "pointer"], "pointer"),
  TF_DeviceListCount: native(["pointer"], "i32"),
  TF_DeviceListName: native(["pointer", "i32", "pointer"], "pointer"),
  TF_DeviceListType: native(["pointer", "i32", "pointer"], "pointer"),
  TF_DeleteDeviceList: native(["pointer"], "void"),

  TFE_NewTensorHandle: native(["pointer", "pointer"], "pointer"),
  TFE_DeleteTensorHandle: native(["usize"], "void"),
  TFE_TensorHandleResolve: native(["usize", "pointer"], "pointer"),
  TFE_TensorHandleCopyToDevice: native([
    "usize",
    "pointer",
    "buffer",
    "pointer",
  ], "pointer"),
  TFE_TensorHandleDataType: native(["usize"], "i32"),
  TFE_TensorHandleNumDims: native(["usize", "pointer"], "i32"),
  // Returns an int64; its low half is all of it for any size JavaScript holds,
  // and on every platform of Deno an i32 is read from the same register.
  TFE_TensorHandleDim: native(["usize", "i32", "pointer"], "i32"),

  TFE_NewOp: native(["pointer", "buffer", "pointer"], "pointer"),
  TFE_DeleteOp: native(["pointer"], "void"),
  TFE_OpReset: {
    ...native(["pointer", "buffer", "pointer", "pointer"], "void"),
    optional: true as const,
  },
  TFE_OpAddInput: native(["pointer", "usize", "pointer"], "void"),
  TFE_OpSetAttrString: native(["pointer", "buffer", "buffer", "usize"], "void"),
  TFE_OpSetAttrInt: native(["pointer", "buffer", "i64"], "void"),
  TFE_OpSetAttrIntList: native(["pointer", "buffer", "buffer", "i32"], "void"),
  TFE_OpSetAttrFloat: native(["pointer", "buffer", "f32"], "void"),
  TFE_OpSetAttrFloatList: native(
    ["pointer", "buffer", "buffer", "i32"],
    "void",
  ),
  TFE_OpSetAttrBool: native(["pointer", "buffer", "u8"], "void"),
  TFE_OpSetAttrBoolList: native(["pointer", "buffer", "buffer", "i32"], "void"),
  TFE_OpSetAttrType: native(["pointer", "buffer", "i32"], "void"),
  TFE_OpSetAttrShape: native(
    ["pointer", "buffer", "buffer", "i32", "pointer"],
    "void",
  ),
  TFE_Execute: native(["pointer", "buffer", "buffer", "pointer"], "void"),
} satisfies Deno.ForeignLibraryInterface;

/** The functions of an opened library. */
export type TensorFlowSymbols = Deno.DynamicLibrary<typeof SYMBOLS>["symbols"];

/** Says in one line why native code could not be loaded. */
export function loadFailure(error: unknown): string {
  if (error instanceof Deno.errors.NotCapable) {
    return "it needs the permission --allow-ffi";
  }
  return (error as Error).message.split("\n")[0];
}

/**
 * Opens a library with TensorFlow's C interface.
 *
 * @throws {Error} If it cannot be opened or is another library.
 */
export function openTensorFlow(path: string): TensorFlowSymbols {
  try {
    return openLibrary(path, SYMBOLS);
  } catch (error) {
    throw new Error(
      `Cannot open the TensorFlow library '${path}': ${loadFailure(error)}`,
    );
  }
}

/** Field numbers of TensorFlow's `ConfigProto` and `GPUOptions`. */
const INTRA_OP_THREADS = 2;
const INTER_OP_THREADS = 5;
const GPU_OPTIONS = 6;
const ALLOW_GROWTH = 4;

/**
 * Serializes the `ConfigProto` of a context: its threads, and that it takes the
 * memory of a GPU as it needs it instead of all at once.
 *
 * @param threads Threads in and between operations; 0 leaves it to TensorFlow.
 */
export function configProto(threads: number): Uint8Array<ArrayBuffer> {
  const writer = new BinaryWriter();
  if (threads > 0) {
    writer.tag(INTRA_OP_THREADS, WireType.Varint).int32(threads);
    writer.tag(INTER_OP_THREADS, WireType.Varint).int32(threads);
  }
  writer.tag(GPU_OPTIONS, WireType.LengthDelimited).fork();
  writer.tag(ALLOW_GROWTH, WireType.Varint).bool(true);
  writer.join();
  return writer.finish() as Uint8Array<ArrayBuffer>;
}

/** The one status object that all calls write to, and what it says. */
class Status {
  /** For calls that report through a status. */
  readonly pointer: Deno.PointerValue;
  readonly #symbols: TensorFlowSymbols;

  constructor(symbols: TensorFlowSymbols) {
    this.#symbols = symbols;
    this.pointer = symbols.TF_NewStatus();
  }

  /** Throws, in one line, if the last call failed. */
  check(action: string): void {
    if (this.#symbols.TF_GetCode(this.pointer) === 0) return;
    const message = readCString(this.#symbols.TF_Message(this.pointer));
    throw new Error(
      `TensorFlow cannot ${action}: ${message.trim().split("\n")[0]}`,
    );
  }
}

/** An eager context of an opened library; lives as long as the process. */
export interface EagerContext {
  /** The library's functions. */
  symbols: TensorFlowSymbols;
  /** Status that calls report to. */
  status: Status;
  /** The context itself. */
  pointer: Deno.PointerValue;
  /** Full name of the device that computes, as bytes that end in zero. */
  device: Uint8Array<ArrayBuffer>;
  /** True where that device is a GPU. */
  isGpu: boolean;
  /** The library's version, such as `2.21.0`. */
  version: string;
}

function newContext(
  symbols: TensorFlowSymbols,
  status: Status,
  threads: number,
): Deno.PointerValue {
  const options = symbols.TFE_NewContextOptions();
  try {
    const config = configProto(threads);
    symbols.TFE_ContextOptionsSetConfig(
      options,
      config,
      BigInt(config.length),
      status.pointer,
    );
    status.check("take its settings");
    const context = symbols.TFE_NewContext(options, status.pointer);
    status.check("start");
    return context;
  } finally {
    symbols.TFE_DeleteContextOptions(options);
  }
}

/** Chooses the last GPU, as tfjs-node does, or else the processor. */
function chooseDevice(
  symbols: TensorFlowSymbols,
  status: Status,
  context: Deno.PointerValue,
): { name: string; isGpu: boolean } {
  const list = symbols.TFE_ContextListDevices(context, status.pointer);
  status.check("list its devices");
  let chosen = { name: "", isGpu: false };
  for (let i = 0; i < symbols.TF_DeviceListCount(list); i++) {
    const type = readCString(
      symbols.TF_DeviceListType(list, i, status.pointer),
    );
    const isGpu = type === "GPU";
    if (!isGpu && (type !== "CPU" || chosen.isGpu)) continue;
    const name = symbols.TF_DeviceListName(list, i, status.pointer);
    chosen = { name: readCString(name), isGpu };
  }
  symbols.TF_DeleteDeviceList(list);
  return chosen;
}

/**
 * Makes an eager context.
 *
 * @param threads Threads that it may use; 0 leaves it to TensorFlow.
 * @throws {Error} If TensorFlow does not start.
 */
export function createContext(
  symbols: TensorFlowSymbols,
  threads: number,
): EagerContext {
  const status = new Status(symbols);
  const pointer = newContext(symbols, status, threads);
  const { name, isGpu } = chooseDevice(symbols, status, pointer);
  const version = readCString(symbols.TF_Version());
  return { symbols, status, pointer, device: cString(name), isGpu, version };
}
