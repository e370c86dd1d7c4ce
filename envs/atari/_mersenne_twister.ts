const SIZE = 624;
const SHIFT = 397;

/** What C++ calls `std::mt19937`: the generator of the emulator's own numbers. */
export class MersenneTwister {
  #state: Uint32Array = new Uint32Array(SIZE);
  #next: number = SIZE;

  /**
   * Starts a stream.
   *
   * @param seed Its lowest 32 bits count.
   */
  constructor(seed: number) {
    const state = this.#state;
    state[0] = seed;
    for (let i = 1; i < SIZE; i++) {
      const before = state[i - 1] ^ (state[i - 1] >>> 30);
      state[i] = Math.imul(before, 1812433253) + i;
    }
  }

  #twist(): void {
    const state = this.#state;
    for (let i = 0; i < SIZE; i++) {
      const low = state[(i + 1) % SIZE];
      const mixed = (state[i] & 0x80000000) | (low & 0x7fffffff);
      state[i] = state[(i + SHIFT) % SIZE] ^ (mixed >>> 1) ^
        (low & 1 ? 0x9908b0df : 0);
    }
    this.#next = 0;
  }

  /** A number from 0 up to and without 1, of 32 random bits. */
  uniform(): number {
    if (this.#next === SIZE) this.#twist();
    let y = this.#state[this.#next++];
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    y ^= y >>> 18;
    return (y >>> 0) / 2 ** 32;
  }

  /** Its state: 624 words and the place among them. */
  save(): Uint32Array {
    const saved = new Uint32Array(SIZE + 1);
    saved.set(this.#state);
    saved[SIZE] = this.#next;
    return saved;
  }

  /**
   * Goes on from a state.
   *
   * @param saved What `save` returned.
   * @throws {TypeError} If it is no such state.
   */
  load(saved: unknown): void {
    const isState = saved instanceof Uint32Array &&
      saved.length === SIZE + 1 && saved[SIZE] <= SIZE;
    if (!isState) {
      throw new TypeError(
        `Cannot restore a random stream: expected ${SIZE + 1} words of 32 bits`,
      );
    }
    this.#state.set(saved.subarray(0, SIZE));
    this.#next = saved[SIZE];
  }
}
