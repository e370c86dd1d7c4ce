/** Numbers that begin at the same distance from a line of the cache. */
const ALIGNMENT = 16;

const PAGE = 1 << 16;

/** Pages that 32 bits can tell apart. */
const MAX_PAGES = 1 << 16;

/** How much of an arena an array of so many numbers takes. */
export function spaceFor(size: number): number {
  return Math.ceil(size / ALIGNMENT) * ALIGNMENT;
}

/** One piece of memory that arrays are cut from; loops can work on it. */
export class Arena {
  readonly memory: WebAssembly.Memory;
  readonly #all: Float32Array<ArrayBuffer>;
  #used = 0;

  private constructor(memory: WebAssembly.Memory) {
    this.memory = memory;
    this.#all = new Float32Array(memory.buffer as ArrayBuffer);
  }

  /** An arena for so many numbers, or nothing where memory has no room. */
  static of(numbers: number): Arena | undefined {
    const pages = Math.ceil(numbers * Float32Array.BYTES_PER_ELEMENT / PAGE);
    if (pages > MAX_PAGES) return undefined;
    try {
      return new Arena(
        new WebAssembly.Memory({ initial: pages, maximum: pages }),
      );
    } catch {
      return undefined;
    }
  }

  /** How many numbers have been given out. */
  get used(): number {
    return this.#used;
  }

  /** How many there is room for. */
  get size(): number {
    return this.#all.length;
  }

  /** Takes back all arrays after the first so many numbers. */
  reset(used: number): void {
    this.#used = used;
  }

  /** An array of so many numbers. */
  take(size: number): Float32Array<ArrayBuffer> {
    const start = this.#used;
    this.#used += spaceFor(size);
    return this.#all.subarray(start, start + size);
  }
}
