const TWO_TO_32 = 2 ** 32;

/**
 * A C struct in separate memory, read and written by byte offsets. Addresses
 * are numbers: those of user space lie below 2 ** 47.
 */
export class CStruct {
  /** The struct's memory, for parameters of the type `buffer`. */
  readonly words: Uint32Array<ArrayBuffer>;
  /** Address of the memory, which never moves. */
  readonly address: number;
  /** Memory that it points at, by offset: C alone does not keep it alive. */
  readonly #targets: unknown[] = [];

  /** @param bytes Size of the struct. */
  constructor(bytes: number) {
    // A typed array without a buffer of its own may lie on V8's heap and move.
    this.words = new Uint32Array(new ArrayBuffer(Math.max(8, bytes)));
    this.address = addressOf(this.words);
  }

  /** Returns the pointer or size at an offset. */
  get(offset: number): number {
    const i = offset >> 2;
    return this.words[i] + this.words[i + 1] * TWO_TO_32;
  }

  /** Writes a pointer or size. */
  set(offset: number, value: number): this {
    const i = offset >> 2;
    this.words[i] = value >>> 0;
    this.words[i + 1] = Math.floor(value / TWO_TO_32);
    return this;
  }

  /** Points at a struct or an array, which then lives as long as this struct. */
  point(offset: number, target: CStruct | ArrayBufferView<ArrayBuffer>): this {
    this.#targets[offset >> 3] = target;
    const address = target instanceof CStruct
      ? target.address
      : addressOf(target);
    return this.set(offset, address);
  }

  /** Returns the `int` at an offset. */
  int32(offset: number): number {
    return this.words[offset >> 2] | 0;
  }

  /** Writes an `int`. */
  setInt32(offset: number, value: number): this {
    this.words[offset >> 2] = value;
    return this;
  }

  /** Returns the `int64_t` at an offset. */
  int64(offset: number): number {
    const i = offset >> 2;
    return this.words[i] + (this.words[i + 1] | 0) * TWO_TO_32;
  }

  /** Returns the `bool` at an offset. */
  bool(offset: number): boolean {
    return new Uint8Array(this.words.buffer)[offset] !== 0;
  }

  /** Returns the text whose address stands at an offset and its size behind. */
  text(offset: number): string {
    return textAt(this.get(offset), this.get(offset + 8));
  }
}

/** Returns the address of an array's first byte. */
export function addressOf(array: ArrayBufferView<ArrayBuffer>): number {
  return Number(Deno.UnsafePointer.value(Deno.UnsafePointer.of(array)));
}

/** Returns the memory at an address: a view, valid as long as the memory is. */
export function memoryAt(address: number, bytes: number): ArrayBuffer {
  if (bytes === 0) return new ArrayBuffer(0);
  const pointer = Deno.UnsafePointer.create(BigInt(address))!;
  return Deno.UnsafePointerView.getArrayBuffer(pointer, bytes);
}

/** Returns the text at an address. */
export function textAt(address: number, bytes: number): string {
  return new TextDecoder().decode(memoryAt(address, bytes).slice(0));
}

/** Returns the 64-bit numbers at an address. */
export function int64sAt(address: number, count: number): number[] {
  return Array.from(new BigInt64Array(memoryAt(address, 8 * count)), Number);
}

/** Encodes a text into separate memory. */
export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}
