import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { cString, readCString, type TensorFlowSymbols } from "./symbols.ts";

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
