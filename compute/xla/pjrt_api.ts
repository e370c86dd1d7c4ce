/**
 * The layout of `pjrt_c_api.h`: new functions are added at the end of the table
 * and new fields at the end of structs, so that places never change within one
 * major version.
 */

/** Places of the functions that are called in the table of `PJRT_Api`. */
export const FUNCTIONS = {
  PJRT_Error_Destroy: 0,
  PJRT_Error_Message: 1,
  PJRT_Error_GetCode: 2,
  PJRT_Plugin_Initialize: 3,
  PJRT_Plugin_Attributes: 4,
  PJRT_Event_Destroy: 5,
  PJRT_Event_Await: 8,
  PJRT_Client_Create: 10,
  PJRT_Client_Destroy: 11,
  PJRT_Client_PlatformName: 12,
  PJRT_Client_PlatformVersion: 14,
  PJRT_Client_AddressableDevices: 16,
  PJRT_Client_Compile: 20,
  PJRT_Client_BufferFromHostBuffer: 22,
  PJRT_DeviceDescription_Kind: 26,
  PJRT_DeviceDescription_ToString: 28,
  PJRT_Device_GetDescription: 29,
  PJRT_Device_MemoryStats: 34,
  PJRT_Executable_Destroy: 40,
  PJRT_Executable_Serialize: 49,
  PJRT_LoadedExecutable_Destroy: 50,
  PJRT_LoadedExecutable_GetExecutable: 51,
  PJRT_LoadedExecutable_Execute: 55,
  PJRT_Executable_DeserializeAndLoad: 56,
  PJRT_Buffer_Destroy: 58,
  PJRT_Buffer_IsDeleted: 68,
  PJRT_Buffer_ToHostBuffer: 70,
  PJRT_Buffer_ReadyEvent: 72,
  PJRT_Buffer_OpaqueDeviceMemoryDataPointer: 76,
  PJRT_TopologyDescription_Serialize: 87,
  PJRT_Executable_OutputElementTypes: 90,
  PJRT_Executable_OutputDimensions: 91,
  PJRT_Client_TopologyDescription: 95,
  PJRT_Executable_GetCompiledMemoryStats: 96,
} as const;

/** A function of the table. */
export type PjrtFunction = keyof typeof FUNCTIONS;

/** Byte offsets in `PJRT_Api`. */
export const API = {
  structSize: 0,
  versionSize: 16,
  major: 32,
  minor: 36,
  functions: 40,
} as const;

/** Bytes that `PJRT_Api` must have for all of {@linkcode FUNCTIONS}. */
export const API_BYTES: number = API.functions +
  8 * (1 + Math.max(...Object.values(FUNCTIONS)));

/** Bytes of the struct of versions inside of `PJRT_Api`. */
export const VERSION_BYTES = 24;

/** Oldest minor version of the API that this was run with; the major one is 0. */
export const OLDEST_MINOR = 81;

/**
 * Bytes of a struct of arguments. A plugin refuses one smaller than it was
 * built with, takes a larger one, and reads 0 as "not given" in later fields.
 */
export const ARGS_BYTES = 320;

/** Byte offsets and size of `PJRT_NamedValue`, which stand in arrays. */
export const NAMED_VALUE = {
  name: 16,
  nameSize: 24,
  type: 32,
  value: 40,
  valueSize: 48,
  bytes: 56,
} as const;

/** `PJRT_NamedValue_Type`. */
export const VALUE_TYPES = {
  text: 0,
  int64: 1,
  int64s: 2,
  float: 3,
  bool: 4,
} as const;

/** `PJRT_HostBufferSemantics`, by what the buffer does with the array. */
export const SEMANTICS = { copy: 0, borrow: 2, share: 3 } as const;

/** `PJRT_Error_Code`. */
export const ERROR_CODES: readonly string[] = [
  "OK",
  "CANCELLED",
  "UNKNOWN",
  "INVALID_ARGUMENT",
  "DEADLINE_EXCEEDED",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "PERMISSION_DENIED",
  "RESOURCE_EXHAUSTED",
  "FAILED_PRECONDITION",
  "ABORTED",
  "OUT_OF_RANGE",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
  "DATA_LOSS",
  "UNAUTHENTICATED",
];
