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
  PJRT_Device_GetDescription: 29,
  PJRT_Device_MemoryStats: 34,
  PJRT_Executable_Destroy: 40,
  PJRT_Executable_Serialize: 49,
  PJRT_LoadedExecutable_Destroy: 50,
  PJRT_LoadedExecutable_GetExecutable: 51,
  PJRT_LoadedExecutable_Execute: 55,
  PJRT_Executable_DeserializeAndLoad: 56,
  PJRT_Buffer_Destroy: 58,
  PJRT_Buffer_ToHostBuffer: 70,
  PJRT_Buffer_OpaqueDeviceMemoryDataPointer: 76,
  PJRT_TopologyDescription_Serialize: 87,
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

/** Byte offset of the first field of all arguments, mostly what they are of. */
export const SUBJECT = 16;

/** Byte offsets in structs by their names in C, beside {@linkcode SUBJECT}. */
export const STRUCTS = {
  PJRT_NamedValue: {
    name: 16,
    name_size: 24,
    type: 32,
    int64_value: 40,
    value_size: 48,
  },
  PJRT_Error_Message_Args: { message: 24, message_size: 32 },
  PJRT_Error_GetCode_Args: { code: 24 },
  PJRT_Client_Create_Args: { create_options: 16, num_options: 24, client: 64 },
  PJRT_Client_PlatformName_Args: { platform_name: 24, platform_name_size: 32 },
  PJRT_Client_PlatformVersion_Args: {
    platform_version: 24,
    platform_version_size: 32,
  },
  PJRT_Client_AddressableDevices_Args: {
    addressable_devices: 24,
    num_addressable_devices: 32,
  },
  PJRT_Client_TopologyDescription_Args: { topology: 24 },
  PJRT_Program: { code: 16, code_size: 24, format: 32, format_size: 40 },
  PJRT_Client_Compile_Args: {
    program: 24,
    compile_options: 32,
    compile_options_size: 40,
    executable: 48,
  },
  PJRT_Client_BufferFromHostBuffer_Args: {
    data: 24,
    type: 32,
    dims: 40,
    num_dims: 48,
    host_buffer_semantics: 72,
    device: 80,
    done_with_host_buffer: 104,
    buffer: 112,
  },
  PJRT_Device_GetDescription_Args: { device_description: 24 },
  PJRT_DeviceDescription_Kind_Args: { device_kind: 24, device_kind_size: 32 },
  PJRT_Device_MemoryStats_Args: {
    bytes_in_use: 24,
    bytes_limit: 80,
    bytes_limit_is_set: 88,
  },
  PJRT_LoadedExecutable_GetExecutable_Args: { executable: 24 },
  PJRT_LoadedExecutable_Execute_Args: {
    options: 24,
    argument_lists: 32,
    num_devices: 40,
    num_args: 48,
    output_lists: 56,
    device_complete_events: 64,
  },
  PJRT_Executable_GetCompiledMemoryStats_Args: {
    generated_code_size_in_bytes: 24,
    argument_size_in_bytes: 32,
    output_size_in_bytes: 40,
    alias_size_in_bytes: 48,
    temp_size_in_bytes: 56,
  },
  PJRT_Executable_Serialize_Args: {
    serialized_bytes: 24,
    serialized_bytes_size: 32,
    serialized_executable: 40,
    serialized_executable_deleter: 48,
  },
  PJRT_TopologyDescription_Serialize_Args: {
    serialized_bytes: 24,
    serialized_bytes_size: 32,
    serialized_topology: 40,
    serialized_topology_deleter: 48,
  },
  PJRT_Executable_DeserializeAndLoad_Args: {
    serialized_executable: 24,
    serialized_executable_size: 32,
    loaded_executable: 40,
  },
  PJRT_Buffer_ToHostBuffer_Args: { dst: 32, dst_size: 40, event: 48 },
  PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args: { device_memory_ptr: 24 },
} as const;

/** Bytes of a `PJRT_NamedValue`, which stand in arrays. */
export const NAMED_VALUE_BYTES = 56;

/** `PJRT_NamedValue_Type`. */
export const VALUE_TYPES = {
  text: 0,
  int64: 1,
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
