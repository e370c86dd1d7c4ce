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
    return Deno.dlopen(path, SYMBOLS).symbols;
  } catch (error) {
    throw new Error(
      `Cannot open the TensorFlow library '${path}': ${loadFailure(error)}`,
    );
  }
}
