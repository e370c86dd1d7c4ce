import { CStruct } from "./c_struct.ts";
import { SEMANTICS, STRUCTS, SUBJECT } from "./pjrt_api.ts";
import { newArguments, type PluginCall, type XlaPlugin } from "./plugin.ts";
import { codeOf, type OwnArray, type TensorSpec } from "./tensors.ts";

const {
  PJRT_Client_BufferFromHostBuffer_Args: SEND,
  PJRT_Buffer_ToHostBuffer_Args: READ,
  PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args: DATA_POINTER,
} = STRUCTS;

/** Something on a device that is to be freed before its client. */
export interface Resource {
  /** Frees it; a second call does nothing. */
  close(): void;
}

/** Dimensions that a list is kept ready for. */
const READY_RANK = 8;

/**
 * A `PJRT_Client`: the functions that every step calls, with arguments that are
 * used again and again, and all that must be freed before it.
 */
export class ClientHandle {
  /** The plugin. */
  readonly plugin: XlaPlugin;
  /** Address of the `PJRT_Client`. */
  readonly handle: number;
  /** True where buffers lie in memory that this process reads and writes. */
  readonly isHost: boolean;
  /** `PJRT_LoadedExecutable_Execute` of programs without donated inputs. */
  readonly execute: PluginCall;
  readonly #fromHost: PluginCall;
  readonly #toHost: PluginCall;
  readonly #destroyBuffer: PluginCall;
  readonly #awaitEvent: PluginCall;
  readonly #destroyEvent: PluginCall;
  readonly #dataPointer: PluginCall;
  readonly #event = newArguments();
  readonly #buffer = newArguments();
  readonly #read = newArguments();
  /** Arguments of `PJRT_Client_BufferFromHostBuffer` with client and device. */
  readonly #sending: CStruct;
  readonly #dims = new CStruct(8 * READY_RANK);
  readonly #resources = new Set<Resource>();
  readonly #forgotten = new FinalizationRegistry<Resource>((it) => it.close());
  #isClosed = false;

  /**
   * @param plugin The plugin.
   * @param handle Address of the `PJRT_Client`.
   * @param on The device's address, and whether it is the CPU.
   */
  constructor(
    plugin: XlaPlugin,
    handle: number,
    on: { readonly device: number; readonly isHost: boolean },
  ) {
    this.plugin = plugin;
    this.handle = handle;
    this.isHost = on.isHost;
    this.#sending = newArguments().set(SUBJECT, handle)
      .set(SEND.device, on.device);
    this.execute = plugin.fast(
      "PJRT_LoadedExecutable_Execute",
      "run the program",
    );
    this.#fromHost = plugin.fast(
      "PJRT_Client_BufferFromHostBuffer",
      "make a buffer",
    );
    this.#toHost = plugin.fast("PJRT_Buffer_ToHostBuffer", "read a buffer");
    this.#destroyBuffer = plugin.fast("PJRT_Buffer_Destroy", "free a buffer");
    this.#awaitEvent = plugin.fast("PJRT_Event_Await", "finish the work");
    this.#destroyEvent = plugin.fast("PJRT_Event_Destroy", "free an event");
    this.#dataPointer = plugin.fast(
      "PJRT_Buffer_OpaqueDeviceMemoryDataPointer",
      "find a buffer's memory",
    );
  }

  /**
   * Throws if the client was closed.
   *
   * @param action Words for the error: `Cannot ACTION as ...`.
   * @throws {TypeError} If it was closed.
   */
  checkOpen(action: string): void {
    if (!this.#isClosed) return;
    throw new TypeError(`Cannot ${action} as the client was closed`);
  }

  /** Frees something when its owner is forgotten or the client closed. */
  own(owner: object, resource: Resource): void {
    this.#resources.add(resource);
    this.#forgotten.register(owner, resource, resource);
  }

  /** Ends {@linkcode own}, as the resource was freed. */
  disown(resource: Resource): void {
    this.#resources.delete(resource);
    this.#forgotten.unregister(resource);
  }

  /** Waits for an event, frees it and throws its error. */
  finish(event: number): void {
    if (event === 0) return;
    const args = this.#event.set(SUBJECT, event);
    try {
      this.#awaitEvent(args);
    } finally {
      this.#destroyEvent(args.set(SUBJECT, event));
    }
  }

  /** Frees a `PJRT_Buffer`; its memory too, unless that was donated. */
  destroyBuffer(handle: number): void {
    if (handle !== 0) this.#destroyBuffer(this.#buffer.set(SUBJECT, handle));
  }

  /**
   * Makes a `PJRT_Buffer` of an array; returns its address, and the event that
   * comes when the array is let go of, 0 for a copy.
   */
  send(
    array: OwnArray,
    { dtype, shape }: TensorSpec,
    use: keyof typeof SEMANTICS,
  ): { handle: number; event: number } {
    const args = this.#sending
      .point(SEND.data, array).setInt32(SEND.type, codeOf(dtype))
      .point(SEND.dims, this.#listOf(shape)).set(SEND.num_dims, shape.length)
      .setInt32(SEND.host_buffer_semantics, SEMANTICS[use]);
    this.#fromHost(args);
    const event = args.get(SEND.done_with_host_buffer);
    const handle = args.get(SEND.buffer);
    if (use !== "copy") return { handle, event };
    this.finish(event);
    return { handle, event: 0 };
  }

  /** Returns the address of a buffer's numbers. */
  addressOfBuffer(handle: number): number {
    const args = this.#buffer.set(SUBJECT, handle);
    this.#dataPointer(args);
    return args.get(DATA_POINTER.device_memory_ptr);
  }

  /**
   * Copies a buffer's numbers, which are there already on the host. They are
   * read where they lie in 0.4 us: the plugin's own copy takes 11.
   */
  readBuffer(handle: number, to: ArrayBufferView<ArrayBuffer>): void {
    if (this.isHost) {
      this.plugin.copy(this.addressOfBuffer(handle), to);
      return;
    }
    const args = this.#read.set(SUBJECT, handle).point(READ.dst, to)
      .set(READ.dst_size, to.byteLength);
    this.#toHost(args);
    this.finish(args.get(READ.event));
  }

  /** Returns a shape as a list of `int64_t`, valid until the next call. */
  #listOf(shape: readonly number[]): CStruct {
    const list = shape.length <= READY_RANK
      ? this.#dims
      : new CStruct(8 * shape.length);
    for (let i = 0; i < shape.length; i++) list.set(8 * i, shape[i]);
    return list;
  }

  /** Frees all that is left, the newest first, and the client. */
  close(): void {
    if (this.#isClosed) return;
    for (const it of [...this.#resources].reverse()) it.close();
    this.#isClosed = true;
    const args = newArguments().set(SUBJECT, this.handle);
    this.plugin.call("PJRT_Client_Destroy", args, "close the client");
  }
}
