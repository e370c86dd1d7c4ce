import { addressOf } from "./c_struct.ts";
import { newArguments } from "./plugin.ts";
import { SEMANTICS, STRUCTS, SUBJECT } from "./pjrt_api.ts";
import type { Resource, Session } from "./session.ts";
import {
  codeOf,
  formatSpec,
  isAligned,
  newArray,
  type OwnArray,
  sizeOf,
  specOf,
  type TensorArray,
  type TensorSpec,
} from "./tensors.ts";

const { PJRT_Client_BufferFromHostBuffer_Args: SEND } = STRUCTS;

/**
 * Relation of a buffer to the array that it is made of.
 *
 * - `copy`: none; the array is free at once.
 * - `borrow`: a program reads what the array holds when it runs. On a CPU it
 *   reads the array in place, elsewhere the array is sent before each run of a
 *   bound call.
 * - `share`: on a CPU a program that takes the buffer's memory for an output
 *   writes the array in place. Elsewhere `push` and `pull` of a bound call send
 *   and fetch it.
 */
export type BufferUse = "copy" | "borrow" | "share";

/** Options of a buffer. */
export interface BufferOptions extends Partial<TensorSpec> {
  /**
   * Relation to the array.
   *
   * @default "copy"
   */
  readonly use?: BufferUse;
}

/** An array that a buffer lies in or is refreshed from. */
export interface Lent {
  /** The array. */
  readonly array: OwnArray;
  /** Relation of the buffer to it. */
  readonly use: BufferUse;
  /** Event that comes when the buffer's memory is let go of; 0 for none. */
  readonly event: number;
}

/** Frees a buffer, then the event that says that its array is free. */
class BufferMemory implements Resource {
  readonly session: Session;
  readonly lent?: Lent;
  handle: number;

  constructor(session: Session, handle: number, lent?: Lent) {
    this.session = session;
    this.handle = handle;
    this.lent = lent;
  }

  close(): void {
    const { session, handle } = this;
    if (handle === 0) return;
    this.handle = 0;
    session.disown(this);
    session.destroyBuffer(handle);
    session.finish(this.lent?.event ?? 0);
  }
}

/** Makes a `PJRT_Buffer` of an array; returns it and the event of the array. */
export function sendArray(
  session: Session,
  array: OwnArray,
  { dtype, shape, use }: TensorSpec & { readonly use: BufferUse },
): { handle: number; event: number } {
  const args = session.sending
    .point(SEND.data, array).setInt32(SEND.type, codeOf(dtype))
    .point(SEND.dims, session.listOf(shape)).set(SEND.num_dims, shape.length)
    .setInt32(SEND.host_buffer_semantics, SEMANTICS[use]);
  session.fromHost(args);
  const event = args.get(SEND.done_with_host_buffer);
  const handle = args.get(SEND.buffer);
  if (use !== "copy") return { handle, event };
  session.finish(event);
  return { handle, event: 0 };
}

/** Returns the array that a buffer lies in or is refreshed from, if any. */
export let lentTo: (buffer: DeviceBuffer) => Lent | undefined;

/** Takes a buffer's `PJRT_Buffer` from it, which the new owner frees. */
export let release: (buffer: DeviceBuffer) => number;

/**
 * A tensor on a device.
 *
 * @example
 * ```ts
 * import { isXlaInstalled, openXla } from "@bellman/compute/xla";
 * import { assertEquals } from "@std/assert";
 *
 * if (isXlaInstalled()) {
 *   using client = openXla();
 *   const numbers = Float32Array.of(1, 2, 3, 4);
 *   using buffer = client.buffer(numbers, { shape: [2, 2] });
 *   assertEquals(buffer.read(), numbers);
 * }
 * ```
 */
export class DeviceBuffer {
  /** Shape and type. */
  readonly spec: TensorSpec;
  readonly #memory: BufferMemory;

  static {
    lentTo = (buffer) => buffer.#memory.lent;
    release = (buffer) => {
      const { handle } = buffer;
      buffer.#memory.handle = 0;
      buffer.#memory.session.disown(buffer.#memory);
      return handle;
    };
  }

  /**
   * Takes over a `PJRT_Buffer`. Buffers are made by `client.buffer` and by
   * programs.
   *
   * @param session Its client.
   * @param handle Its address.
   * @param of Shape, type and the array that it lies in.
   */
  constructor(
    session: Session,
    handle: number,
    of: { readonly spec: TensorSpec; readonly lent?: Lent },
  ) {
    this.spec = of.spec;
    this.#memory = new BufferMemory(session, handle, of.lent);
    session.own(this, this.#memory);
  }

  /**
   * Makes a buffer of an array's numbers.
   *
   * @param session The client.
   * @param data The numbers.
   * @param options Shape, type and the relation to the array.
   * @throws {TypeError} If array and tensor do not fit, or the array is to be
   * used in place and is not aligned: XLA would copy it without a word.
   */
  static of(
    session: Session,
    data: TensorArray,
    options: BufferOptions = {},
  ): DeviceBuffer {
    session.checkOpen("make a buffer");
    const { use = "copy" } = options;
    const spec = specOf(data, options);
    const array = data as OwnArray;
    if (use !== "copy" && session.isHost && !isAligned(array)) {
      throw new TypeError(
        `Cannot ${use} a ${array.constructor.name} that is not aligned to 64 bytes: expected one of alignedArray`,
      );
    }
    // Only memory of this process can be used in place.
    const sent = session.isHost ? use : "copy";
    const { handle, event } = sendArray(session, array, { ...spec, use: sent });
    const lent = use === "copy" ? undefined : { array, use, event };
    return new DeviceBuffer(session, handle, { spec, lent });
  }

  /** Number of elements. */
  get length(): number {
    return sizeOf(this.spec.shape);
  }

  /**
   * Address of the `PJRT_Buffer`.
   *
   * @throws {TypeError} If the buffer was freed or donated.
   */
  get handle(): number {
    const { handle } = this.#memory;
    if (handle !== 0) return handle;
    throw new TypeError(
      `Cannot use a ${formatSpec(this.spec)} that was freed or donated`,
    );
  }

  /** True where its numbers are those of the array that it was made of. */
  get isInPlace(): boolean {
    const { lent, session } = this.#memory;
    return lent !== undefined && session.isHost &&
      session.addressOfBuffer(this.handle) === addressOf(lent.array);
  }

  /** True where a program took its memory. */
  get isDonated(): boolean {
    const args = newArguments().set(SUBJECT, this.handle);
    const { plugin } = this.#memory.session;
    plugin.call("PJRT_Buffer_IsDeleted", args, "look at a buffer");
    return args.bool(STRUCTS.PJRT_Buffer_IsDeleted_Args.is_deleted);
  }

  /**
   * Copies the numbers into a new array.
   *
   * @throws {XlaError} If the program that makes them failed.
   */
  read(): TensorArray {
    return this.readInto(newArray(this.spec.dtype, this.length));
  }

  /**
   * Copies the numbers into an array and returns it.
   *
   * @param out Array of the buffer's length and type.
   * @throws {TypeError} If the array does not fit.
   * @throws {XlaError} If the program that makes them failed.
   */
  readInto<T extends TensorArray>(out: T): T {
    specOf(out, this.spec);
    const { session } = this.#memory;
    session.waitFor(this.handle);
    session.readBuffer(this.handle, out as T & OwnArray);
    return out;
  }

  /** Frees it; an array that it borrowed or shared is the caller's again. */
  close(): void {
    this.#memory.close();
  }

  /** Frees it. */
  [Symbol.dispose](): void {
    this.close();
  }
}
