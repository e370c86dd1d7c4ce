import { readVariable } from "@bellman/files/installed";
import { type CStruct, int64sAt, utf8 } from "./c_struct.ts";
import { ClientHandle } from "./client_handle.ts";
import { encodeCompileOptions, type XlaFlags } from "./compile_options.ts";
import { Executable, takeSerialized } from "./executable.ts";
import { ExecutableCache } from "./executable_cache.ts";
import { encodeNamedValues, type NamedValue } from "./named_values.ts";
import { type PjrtFunction, STRUCTS, SUBJECT } from "./pjrt_api.ts";
import {
  cudaPackages,
  newArguments,
  XlaError,
  type XlaPlugin,
} from "./plugin.ts";
import { type ProgramSignature, readSignature } from "./signature.ts";

const {
  PJRT_Client_AddressableDevices_Args: DEVICES,
  PJRT_Client_Compile_Args: COMPILE,
  PJRT_Client_Create_Args: CREATE,
  PJRT_Executable_DeserializeAndLoad_Args: LOAD,
  PJRT_Program: PROGRAM,
} = STRUCTS;

/** Bytes of a device's memory, as far as its plugin reports them. */
export interface DeviceMemory {
  /** Bytes in use. */
  readonly inUse: number;
  /** Bytes that can be in use. */
  readonly limit?: number;
}

/** A device of a client. */
export interface XlaDevice {
  /** Kind, such as `cpu` or `NVIDIA H100 80GB HBM3`. */
  readonly kind: string;
  /** Returns its memory; undefined where the plugin does not report it, as for a CPU. */
  memory(): DeviceMemory | undefined;
}

/** Options of a client. */
export interface ClientOptions {
  /**
   * Folder that keeps machine code from run to run, or false for none.
   *
   * @default false
   */
  readonly cache?: string | false;
  /**
   * Create options of the plugin, in place of the defaults: one synchronous
   * device of a CPU; on a GPU, memory that is taken as it is needed.
   */
  readonly create?: Readonly<Record<string, NamedValue>>;
  /**
   * True where arrays are used in place; false sends and fetches them, as on a
   * device with its own memory.
   *
   * @default true on a CPU
   */
  readonly inPlace?: boolean;
}

/** Options of a compilation. */
export interface CompileOptions {
  /** XLA's flags for this program alone. */
  readonly flags?: XlaFlags;
}

/**
 * One device: on more, a call is several times as slow, and with asynchronous
 * calls, too. Plugins before API 0.115 ignore `asynchronous`.
 */
const CPU_OPTIONS = { cpu_device_count: 1, asynchronous: false } as const;
/** By default a plugin takes three quarters of a GPU's memory at once. */
const GPU_OPTIONS = { preallocate: false } as const;

/** Flags of all programs for a CPU. */
const CPU_FLAGS: XlaFlags = {
  // 256 by default: loops of 512 bits make small updates 5 to 8 % faster.
  xla_cpu_prefer_vector_width: 512,
};
/** A flag that older plugins do not know, and do not need. */
const LIBRARY_FLAG = "xla_cpu_experimental_ynn_fusion_type";
/**
 * By default, YNNPACK has reductions too. They are no faster, and the sum of
 * `E c * E` for matrices E and c, each number of c the same, is wrong by
 * thirty orders of magnitude.
 */
const LIBRARY_FLAGS: XlaFlags = {
  [LIBRARY_FLAG]: "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT",
};

/** Types of options: older plugins end the process where one is of another. */
const OPTION_TYPES: Readonly<Record<string, string>> = {
  cpu_device_count: "whole number",
  asynchronous: "boolean",
  preallocate: "boolean",
  memory_fraction: "number",
  allocator: "string",
};

/**
 * A device of a plugin, and what is compiled for it.
 *
 * @example
 * ```ts
 * import { isXlaInstalled, openXla } from "@bellman/compute/xla";
 * import { assertEquals } from "@std/assert";
 *
 * if (isXlaInstalled()) {
 *   using client = openXla();
 *   assertEquals(client.devices.length, 1);
 * }
 * ```
 */
export class XlaClient {
  /** File of the plugin. */
  readonly pluginPath: string;
  /** Version of the PJRT API of the plugin, such as `0.115`. */
  readonly apiVersion: string;
  /** Name of the platform: `cpu` or `cuda`. */
  readonly platform: string;
  /** Version of the platform, as the plugin reports it. */
  readonly platformVersion: string;
  /** The plugin's devices; programs run on the first. */
  readonly devices: readonly XlaDevice[];
  readonly #plugin: XlaPlugin;
  readonly #handle: ClientHandle;
  readonly #cache: ExecutableCache | undefined;
  #hasLibraryFlag = true;

  /**
   * Starts a client; `openXla` does it.
   *
   * @param plugin The plugin.
   * @param options Create options of the plugin.
   * @throws {XlaError} If the plugin has no device or refuses an option.
   * @throws {TypeError} If an option has a type that could end the process.
   */
  constructor(plugin: XlaPlugin, options: ClientOptions = {}) {
    this.#plugin = plugin;
    this.pluginPath = plugin.path;
    this.apiVersion = `${plugin.version.major}.${plugin.version.minor}`;
    const handle = createClient(plugin, options.create);
    const ask = (name: PjrtFunction): CStruct => {
      const args = newArguments().set(SUBJECT, handle);
      plugin.call(name, args, "read the client");
      return args;
    };
    this.platform = ask("PJRT_Client_PlatformName")
      .text(STRUCTS.PJRT_Client_PlatformName_Args.platform_name);
    this.platformVersion = ask("PJRT_Client_PlatformVersion")
      .text(STRUCTS.PJRT_Client_PlatformVersion_Args.platform_version);
    const found = ask("PJRT_Client_AddressableDevices");
    const handles = int64sAt(
      found.get(DEVICES.addressable_devices),
      found.get(DEVICES.num_addressable_devices),
    );
    this.devices = handles.map((it) => deviceAt(plugin, it));
    const isHost = this.platform === "cpu" && options.inPlace !== false;
    this.#handle = new ClientHandle(plugin, handle, {
      device: handles[0],
      isHost,
    });
    if (options.cache) this.#cache = this.#openCache(options.cache, options);
  }

  /** Flags of every program: on a GPU, the place of CUDA's own programs. */
  get #platformFlags(): XlaFlags {
    if (this.platform !== "cuda") {
      return { ...CPU_FLAGS, ...this.#hasLibraryFlag && LIBRARY_FLAGS };
    }
    const folder = `${cudaPackages(this.pluginPath)}/cu13`;
    return { xla_gpu_cuda_data_dir: folder };
  }

  /** Opens the cache, if the plugin reports what machine code depends on. */
  #openCache(
    folder: string,
    { create }: ClientOptions,
  ): ExecutableCache | undefined {
    try {
      return new ExecutableCache(folder, {
        plugin: this.pluginPath,
        target: [
          ...[this.apiVersion, this.platform, this.platformVersion],
          ...this.devices.map((it) => it.kind),
          JSON.stringify(create ?? null),
          readVariable("XLA_FLAGS") ?? "",
          this.#describeTarget(),
        ],
      });
    } catch (error) {
      if (error instanceof XlaError) return undefined;
      throw error;
    }
  }

  /** True where arrays are used in place: on a CPU. */
  get isHost(): boolean {
    return this.#handle.isHost;
  }

  /**
   * Compiles a program, or loads its machine code from the client's cache.
   *
   * @param program StableHLO, as text.
   * @param options Flags.
   * @throws {XlaError} If it does not compile, with the plugin's message.
   * @throws {SyntaxError} If the signature cannot be read.
   */
  compile(program: string, options: CompileOptions = {}): Executable {
    this.#handle.checkOpen("compile a program");
    const signature = readSignature(program), code = utf8(program);
    const flags = { ...this.#platformFlags, ...options.flags };
    const compileOptions = encodeCompileOptions(flags);
    const key = this.#cache?.keyOf([code, compileOptions]);
    const known = key && this.#loadCached(key, signature);
    if (known) return known;
    let made: number;
    try {
      made = this.#compile(code, compileOptions);
    } catch (error) {
      const isUnknown = this.#hasLibraryFlag &&
        (error as Error).message.includes(LIBRARY_FLAG);
      if (!isUnknown) throw error;
      this.#hasLibraryFlag = false;
      return this.compile(program, options);
    }
    const executable = new Executable(this.#handle, made, signature);
    if (key) this.#keep(key, executable);
    return executable;
  }

  /** Keeps the machine code of a program, if its plugin gives it. */
  #keep(key: string, executable: Executable): void {
    try {
      this.#cache!.write(key, executable.serialize());
    } catch (error) {
      if (!(error instanceof XlaError)) throw error;
    }
  }

  /** Loads machine code of the cache, unless it lacks or cannot be loaded. */
  #loadCached(
    key: string,
    signature: ProgramSignature,
  ): Executable | undefined {
    const code = this.#cache!.read(key);
    try {
      return code && this.#load(code, signature);
    } catch (error) {
      if (error instanceof XlaError) return undefined;
      throw error;
    }
  }

  /** Compiles; returns the address of the `PJRT_LoadedExecutable`. */
  #compile(
    code: Uint8Array<ArrayBuffer>,
    compileOptions: Uint8Array<ArrayBuffer>,
  ): number {
    const format = utf8("mlir");
    const struct = newArguments()
      .point(PROGRAM.code, code).set(PROGRAM.code_size, code.length)
      .point(PROGRAM.format, format).set(PROGRAM.format_size, format.length);
    const args = newArguments().set(SUBJECT, this.#handle.handle)
      .point(COMPILE.program, struct)
      .point(COMPILE.compile_options, compileOptions)
      .set(COMPILE.compile_options_size, compileOptions.length);
    this.#plugin.call("PJRT_Client_Compile", args, "compile the program");
    return args.get(COMPILE.executable);
  }

  /** Loads the machine code of a program; throws an `XlaError` where that fails. */
  #load(
    code: Uint8Array<ArrayBuffer>,
    signature: ProgramSignature,
  ): Executable {
    const args = newArguments().set(SUBJECT, this.#handle.handle)
      .point(LOAD.serialized_executable, code)
      .set(LOAD.serialized_executable_size, code.length);
    this.#plugin.call(
      "PJRT_Executable_DeserializeAndLoad",
      args,
      "load the program",
    );
    return new Executable(
      this.#handle,
      args.get(LOAD.loaded_executable),
      signature,
    );
  }

  /** Describes the machine: of a CPU also the features that code is made for. */
  #describeTarget(): Uint8Array<ArrayBuffer> {
    const plugin = this.#plugin;
    const args = newArguments().set(SUBJECT, this.#handle.handle);
    plugin.call("PJRT_Client_TopologyDescription", args, "read the client");
    const found = STRUCTS.PJRT_Client_TopologyDescription_Args.topology;
    const topology = newArguments().set(SUBJECT, args.get(found));
    plugin.call(
      "PJRT_TopologyDescription_Serialize",
      topology,
      "read the client",
    );
    return takeSerialized(topology);
  }

  /** Frees the client with all its buffers, programs and calls. */
  close(): void {
    this.#handle.close();
  }

  /** Frees it. */
  [Symbol.dispose](): void {
    this.close();
  }
}

/** Creates a `PJRT_Client`, by default with the options of its platform. */
function createClient(
  plugin: XlaPlugin,
  options?: Readonly<Record<string, NamedValue>>,
): number {
  if (options !== undefined) return createWith(plugin, options);
  try {
    return createWith(plugin, CPU_OPTIONS);
  } catch (error) {
    // A plugin of a GPU refuses the options of a CPU by name.
    const isOther = error instanceof XlaError &&
      /cpu_device_count|asynchronous/.test(error.message);
    if (isOther) return createWith(plugin, GPU_OPTIONS);
    throw error;
  }
}

function createWith(
  plugin: XlaPlugin,
  options: Readonly<Record<string, NamedValue>>,
): number {
  for (const [name, value] of Object.entries(options)) {
    const wanted = OPTION_TYPES[name];
    const type = Number.isInteger(value) ? "whole number" : typeof value;
    if (wanted === undefined || type.endsWith(wanted)) continue;
    throw new TypeError(
      `Cannot start a client with the option ${name} = ${value}: expected a ${wanted}`,
    );
  }
  const args = newArguments()
    .point(CREATE.create_options, encodeNamedValues(options))
    .set(CREATE.num_options, Object.keys(options).length);
  plugin.call("PJRT_Client_Create", args, "start a client");
  return args.get(CREATE.client);
}

function deviceAt(plugin: XlaPlugin, handle: number): XlaDevice {
  const ask = (name: PjrtFunction, of: number): CStruct => {
    const args = newArguments().set(SUBJECT, of);
    plugin.call(name, args, "read the device");
    return args;
  };
  const description = ask("PJRT_Device_GetDescription", handle)
    .get(STRUCTS.PJRT_Device_GetDescription_Args.device_description);
  return {
    kind: ask("PJRT_DeviceDescription_Kind", description)
      .text(STRUCTS.PJRT_DeviceDescription_Kind_Args.device_kind),
    memory() {
      try {
        return memoryIn(ask("PJRT_Device_MemoryStats", handle));
      } catch (error) {
        const isUntold = error instanceof XlaError &&
          error.code === "UNIMPLEMENTED";
        if (isUntold) return undefined;
        throw error;
      }
    },
  };
}

/** Reads `PJRT_Device_MemoryStats_Args`, of which most may not be set. */
function memoryIn(args: CStruct): DeviceMemory {
  const { PJRT_Device_MemoryStats_Args: stats } = STRUCTS;
  return {
    inUse: args.int64(stats.bytes_in_use),
    ...args.bool(stats.bytes_limit_is_set) &&
      { limit: args.int64(stats.bytes_limit) },
  };
}
