/**
 * Seeded random numbers whose state can be saved: xoroshiro128+ (Blackman and Vigna
 * 2018). Plain TypeScript without tensors, for Deno, Node and browsers.
 *
 * @example
 * ```ts
 * import { RandomStream, seedWords } from "@bellman/random";
 * import { assertEquals } from "@std/assert";
 *
 * const random = new RandomStream(seedWords(3));
 * const state = random.save();
 * const drawn = random.normal();
 * random.load(state);
 * assertEquals(random.normal(), drawn);
 * ```
 *
 * @module
 */
import type { StateTree } from "@bellman/types";
import { uniformFloat64 } from "pure-rand/distribution/uniformFloat64";
import { xoroshiro128plusFromState } from "pure-rand/generator/xoroshiro128plus";

/**
 * Makes a sequence of 32 random bits each: a Weyl sequence through a mixing function
 * (Steele 2014). It seeds other generators, and serves where few numbers are drawn.
 *
 * @param seed Start, a whole number of which the lowest 32 bits count.
 * @returns Function that draws the next whole number from 0 up to and without 2^32.
 * @example
 * ```ts
 * import { mixedBits } from "@bellman/random";
 * import { assertEquals, assertNotEquals } from "@std/assert";
 *
 * const draw = mixedBits(1);
 * assertNotEquals(draw(), draw());
 * assertEquals(mixedBits(1)(), mixedBits(1)());
 * ```
 */
export function mixedBits(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = state + 0x9e3779b9 | 0;
    let bits = Math.imul(state ^ state >>> 16, 0x21f0aaad);
    bits = Math.imul(bits ^ bits >>> 15, 0x735a2d97);
    return (bits ^ bits >>> 15) >>> 0;
  };
}

/**
 * Makes the words that a stream starts from, of a seed.
 *
 * @param seed Whole number of at least 0.
 * @returns Four words.
 * @throws {RangeError} If it is not such a number.
 * @example
 * ```ts
 * import { seedWords } from "@bellman/random";
 * import { assertEquals, assertNotEquals } from "@std/assert";
 *
 * assertEquals(seedWords(7), seedWords(7));
 * assertNotEquals(seedWords(7), seedWords(8));
 * ```
 */
export function seedWords(seed: number): Int32Array {
  if (!Number.isSafeInteger(seed) || seed < 0) {
    throw new RangeError(
      `Cannot seed random numbers with ${seed}: expected a whole number of at least 0`,
    );
  }
  const draw = mixedBits(seed), rest = Math.floor(seed / 2 ** 32);
  return Int32Array.from({ length: 4 }, () => draw() ^ rest);
}

/**
 * Draws a normal number of mean 0 and variance 1, of two uniform ones (Box and Muller
 * 1958).
 *
 * @param uniform Draws a number from 0 up to and without 1.
 * @returns The number.
 * @example
 * ```ts
 * import { normal } from "@bellman/random";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(normal(() => 0), 0);
 * ```
 */
export function normal(uniform: () => number): number {
  const radius = Math.sqrt(-2 * Math.log(1 - uniform()));
  return radius * Math.cos(2 * Math.PI * uniform());
}

/** Generator of 32 random bits at a time. */
export interface BitGenerator {
  /** Draws a whole number from -2^31 up to and without 2^31. */
  next(): number;
  /** Returns its state, four words. */
  getState(): readonly number[];
  /** Copies the generator. */
  clone(): BitGenerator;
}

/**
 * Stream of random numbers whose state can be saved.
 *
 * @example
 * ```ts
 * import { RandomStream } from "@bellman/random";
 * import { assert } from "@std/assert";
 *
 * const random = new RandomStream([1, 2, 3, 4]);
 * const drawn = random.uniform(-1, 1);
 * assert(drawn >= -1 && drawn < 1);
 * ```
 */
export class RandomStream {
  /** Generator of 32 bits at a time. */
  protected generator: BitGenerator;

  /**
   * Makes a stream.
   *
   * @param words State to start from, four words, such as {@linkcode seedWords} gives.
   */
  constructor(words: ArrayLike<number>) {
    this.generator = xoroshiro128plusFromState(Array.from(words));
  }

  /**
   * Draws a number from `low` up to and without `high`.
   *
   * @param low Lower end.
   * @param high Upper end.
   * @returns The number.
   */
  uniform(low = 0, high = 1): number {
    return low + (high - low) * uniformFloat64(this.generator);
  }

  /**
   * Draws a normal number of mean 0 and variance 1.
   *
   * @returns The number.
   */
  normal(): number {
    return normal(() => this.uniform());
  }

  /**
   * Saves the state of the stream.
   *
   * @returns A copy that later draws do not change.
   */
  save(): StateTree {
    return { generator: Int32Array.from(this.generator.getState()) };
  }

  /**
   * Restores a state.
   *
   * @param state State that {@linkcode RandomStream.save} returned.
   * @throws {TypeError} If it is not the state of a stream.
   */
  load(state: StateTree): void {
    const { generator } = { ...state as { generator?: StateTree } };
    const isState = generator instanceof Int32Array &&
      generator.length === 4 && generator.some((it) => it !== 0);
    if (!isState) {
      throw new TypeError(
        "Cannot load a random stream: expected 'generator', an Int32Array of four words, not all 0",
      );
    }
    this.generator = xoroshiro128plusFromState([...generator]);
  }
}
