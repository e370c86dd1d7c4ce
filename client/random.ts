import type { RandomSource } from "@bellman/types";

/** A normal number, of two uniform ones: Box and Muller. */
export function normal(random: () => number): number {
  const radius = Math.sqrt(-2 * Math.log(1 - random()));
  return radius * Math.cos(2 * Math.PI * random());
}

/** Rounds that mix a seed into the state. */
const ROUNDS = 12;

/** Seeded stream of random numbers whose state is four whole numbers: sfc32. */
export class RandomStream implements RandomSource {
  #state: Int32Array;

  /** @param seed Whole number from 0 to below 2^53. */
  constructor(seed: number) {
    this.#state = Int32Array.of(seed, Math.floor(seed / 2 ** 32), 0, 1);
    for (let i = 0; i < ROUNDS; i++) this.#next();
  }

  #next(): number {
    const s = this.#state, [a, b, c, count] = s;
    const drawn = (a + b | 0) + count | 0;
    s[0] = b ^ b >>> 9;
    s[1] = c + (c << 3);
    s[2] = (c << 21 | c >>> 11) + drawn;
    s[3] = count + 1;
    return drawn >>> 0;
  }

  uniform(): number {
    // 53 bits, as Math.random has.
    return ((this.#next() >>> 5) * 2 ** 26 + (this.#next() >>> 6)) / 2 ** 53;
  }

  normal(): number {
    return normal(() => this.uniform());
  }

  integer(n: number): number {
    return Math.floor(n * this.uniform());
  }

  /** Returns the state. */
  save(): number[] {
    return [...this.#state];
  }

  /** Restores a state. */
  load(state: ArrayLike<number>): void {
    this.#state.set(state);
  }
}
