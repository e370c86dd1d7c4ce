/** The part of TensorFlow's C interface that eager tensors need. */

/**
 * Handles of tensors are addresses (`usize`), as `TFE_Execute` writes them to a
 * buffer and a table holds them; what lives long is a pointer object.
 */
export const SYMBOLS = {
  TF_Version: { parameters: [], result: "pointer" },
  TF_NewStatus: { parameters: [], result: "pointer" },
  TF_GetCode: { parameters: ["pointer"], result: "i32" },
  TF_Message: { parameters: ["pointer"], result: "pointer" },

  TF_AllocateTensor: {
    parameters: ["i32", "buffer", "i32", "usize"],
    result: "pointer",
  },
  TF_DeleteTensor: { parameters: ["pointer"], result: "void" },
  TF_TensorData: { parameters: ["pointer"], result: "pointer" },
  TF_TensorByteSize: { parameters: ["pointer"], result: "usize" },

  TFE_NewContextOptions: { parameters: [], result: "pointer" },
  TFE_ContextOptionsSetConfig: {
    parameters: ["pointer", "buffer", "usize", "pointer"],
    result: "void",
  },
  TFE_DeleteContextOptions: { parameters: ["pointer"], result: "void" },
  TFE_NewContext: { parameters: ["pointer", "pointer"], result: "pointer" },
  TFE_ContextListDevices: {
    parameters: ["pointer", "pointer"],
    result: "pointer",
  },
  TF_DeviceListCount: { parameters: ["pointer"], result: "i32" },
  TF_DeviceListName: {
    parameters: ["pointer", "i32", "pointer"],
    result: "pointer",
  },
  TF_DeviceListType: {
    parameters: ["pointer", "i32", "pointer"],
    result: "pointer",
  },
  TF_DeleteDeviceList: { parameters: ["pointer"], result: "void" },

  TFE_NewTensorHandle: {
    parameters: ["pointer", "pointer"],
    result: "pointer",
  },
  TFE_DeleteTensorHandle: { parameters: ["usize"], result: "void" },
  TFE_TensorHandleResolve: {
    parameters: ["usize", "pointer"],
    result: "pointer",
  },
  TFE_TensorHandleCopyToDevice: {
    parameters: ["usize", "pointer", "buffer", "pointer"],
    result: "pointer",
  },
  TFE_TensorHandleDataType: { parameters: ["usize"], result: "i32" },
  TFE_TensorHandleNumDims: { parameters: ["usize", "pointer"], result: "i32" },
  // Returns an int64; its low half is all of it for any size JavaScript holds,
  // and on every platform of Deno an i32 is read from the same register.
  TFE_TensorHandleDim: {
    parameters: ["usize", "i32", "pointer"],
    result: "i32",
  },

  TFE_NewOp: {
    parameters: ["pointer", "buffer", "pointer"],
    result: "pointer",
  },
  TFE_DeleteOp: { parameters: ["pointer"], result: "void" },
  TFE_OpReset: {
    parameters: ["pointer", "buffer", "pointer", "pointer"],
    result: "void",
    optional: true,
  },
  TFE_OpAddInput: {
    parameters: ["pointer", "usize", "pointer"],
    result: "void",
  },
  TFE_OpSetAttrString: {
    parameters: ["pointer", "buffer", "buffer", "usize"],
    result: "void",
  },
  TFE_OpSetAttrInt: {
    parameters: ["pointer", "buffer", "i64"],
    result: "void",
  },
  TFE_OpSetAttrIntList: {
    parameters: ["pointer", "buffer", "buffer", "i32"],
    result: "void",
  },
  TFE_OpSetAttrFloat: {
    parameters: ["pointer", "buffer", "f32"],
    result: "void",
  },
  TFE_OpSetAttrFloatList: {
    parameters: ["pointer", "buffer", "buffer", "i32"],
    result: "void",
  },
  TFE_OpSetAttrBool: {
    parameters: ["pointer", "buffer", "u8"],
    result: "void",
  },
  TFE_OpSetAttrBoolList: {
    parameters: ["pointer", "buffer", "buffer", "i32"],
    result: "void",
  },
  TFE_OpSetAttrType: {
    parameters: ["pointer", "buffer", "i32"],
    result: "void",
  },
  TFE_OpSetAttrShape: {
    parameters: ["pointer", "buffer", "buffer", "i32", "pointer"],
    result: "void",
  },
  TFE_Execute: {
    parameters: ["pointer", "buffer", "buffer", "pointer"],
    result: "void",
  },
} as const satisfies Deno.ForeignLibraryInterface;

/** The functions of an opened library. */
export type TensorFlowSymbols = Deno.DynamicLibrary<typeof SYMBOLS>["symbols"];

function reasonOf(error: unknown): string {
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
      `Cannot open the TensorFlow library '${path}': ${reasonOf(error)}`,
    );
  }
}
