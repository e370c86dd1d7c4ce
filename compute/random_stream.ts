import type { RandomSource, StateTree } from "@bellman/types";
import { sha256 } from "@noble/hashes/sha2.js";
import { uniformFloat64 } from "pure-rand/distribution/uniformFloat64";
import { uniformInt } from "pure-rand/distribution/uniformInt";
import {
  xoroshiro128plusFromState,
} from "pure-rand/generator/xoroshiro128plus";

type Generator = ReturnType<typeof xoroshiro128plusFromState>;

/** Saved state of a stream. */
type SavedStream = {
  /** The generator's 128 bits. */
  generator: Int32Array;
  /** The 128 bits that streams are split from. */
  key: Int32Array;
  /** The second normal of a pair that was drawn, if it is still to be given. */
  spare: number | null;
};

function digest(words: Int32Array, label: string): Int32Array {
  const name = new TextEncoder().encode(label);
  const bytes = new Uint8Array(16 + name.length);
  const view = new DataView(bytes.buffer);
  words.forEach((word, i) => view.setInt32(4 * i, word, true));
  bytes.set(name, 16);
  const hash = new DataView(sha256(bytes).buffer);
  return Int32Array.from({ length: 4 }, (_, i) => hash.getInt32(4 * i, true));
}

/**
 * A seeded stream of random numbers whose state can be saved.
 *
 * Streams are split by name: `root.split("env/3")` depends on the root's seed
 * and the name alone, not on what was drawn before, so that a new consumer
 * changes no other's numbers. The generator is xoroshiro128+ (Blackman and
 * Vigna 2018), seeded with 128 bits of SHA-256.
 *
 * @example
 * ```ts
 * import { RandomStream } from "@bellman/compute";
 * import { assert, assertEquals } from "@std/assert";
 *
 * const root = new RandomStream(7);
 * const noise = root.split("policy");
 * const state = noise.save();
 * const drawn = noise.normal();
 * noise.load(state);
 * assertEquals(noise.normal(), drawn);
 * assert(root.split("policy").uniform() !== root.split("buffer").uniform());
 * ```
 */
export class RandomStream implements RandomSource {
  #key: Int32Array;
  #generator: Generator;
  #spare: number | null = null;
  readonly #pair = new Float64Array(2);

  /**
   * Seeds a stream.
   *
   * @param seed A whole number from 0 to 2^53 - 1.
   * @throws {RangeError} If the seed is not such a number.
   */
  constructor(seed: number) {
    if (!Number.isSafeInteger(seed) || seed < 0) {
      throw new RangeError(
        `Cannot seed a stream with ${seed}: expected a whole number of at least 0`,
      );
    }
    const low = seed | 0;
    const high = Math.floor(seed / 2 ** 32) | 0;
    this.#key = digest(Int32Array.of(low, high, 0, 0), "seed");
    this.#generator = this.#start();
  }

  #start(): Generator {
    return xoroshiro128plusFromState([...digest(this.#key, "generator")]);
  }

  /**
   * Makes the stream of a consumer, by name. The same name gives the same
   * stream.
   *
   * @param name Name of the consumer, such as `policy` or `env/3`.
   * @returns A stream that is independent of this one.
   */
  split(name: string): RandomStream {
    const stream = new RandomStream(0);
    stream.#key = digest(this.#key, `split/${name}`);
    stream.#generator = stream.#start();
    return stream;
  }

  /**
   * Draws a number from 0 up to and without 1, of 53 random bits.
   *
   * @returns The number.
   */
  uniform(): number {
    return uniformFloat64(this.#generator);
  }

  /**
   * Draws a normal number of mean 0 and variance 1, by Marsaglia's polar
   * method.
   *
   * @returns The number.
   */
  normal(): number {
    if (this.#spare !== null) {
      const spare = this.#spare;
      this.#spare = null;
      return spare;
    }
    this.#drawPair(this.#pair, 0);
    this.#spare = this.#pair[1];
    return this.#pair[0];
  }

  /** Draws two normal numbers, into an array from a place on. */
  #drawPair(into: Float32Array | Float64Array, at: number): void {
    let x = 0, y = 0, square = 0;
    do {
      x = 2 * this.uniform() - 1;
      y = 2 * this.uniform() - 1;
      square = x * x + y * y;
    } while (square >= 1 || square === 0);
    const factor = Math.sqrt(-2 * Math.log(square) / square);
    into[at] = x * factor;
    into[at + 1] = y * factor;
  }

  /**
   * Draws a whole number from 0 up to and without `n`, each as likely.
   *
   * @param n Number of numbers, at least 1.
   * @returns The number.
   * @throws {RangeError} If `n` is not a whole number from 1 to 2^32.
   */
  integer(n: number): number {
    if (!Number.isInteger(n) || n < 1 || n > 2 ** 32) {
      throw new RangeError(
        `Cannot draw one of ${n} numbers: expected a whole number from 1 to 2^32`,
      );
    }
    return uniformInt(this.#generator, 0, n - 1);
  }

  /**
   * Fills an array with numbers from 0 up to and without 1.
   *
   * @param target The array to fill; its numbers are rounded down to float32,
   * so that 1 does not occur.
   * @returns The same array.
   */
  fillUniform(target: Float32Array): Float32Array {
    for (let i = 0; i < target.length; i++) {
      // 24 bits are what a float32 holds below 1 without rounding up.
      target[i] = (this.#generator.next() >>> 8) / 0x1000000;
    }
    return target;
  }

  /**
   * Fills an array with normal numbers of mean 0 and variance 1.
   *
   * @param target The array to fill.
   * @returns The same array.
   */
  fillNormal(target: Float32Array): Float32Array {
    const { length } = target;
    let i = 0;
    if (length > 0 && this.#spare !== null) target[i++] = this.normal();
    // Most by twos: a spare number that is kept costs as much as a drawn one.
    for (; i + 1 < length; i += 2) this.#drawPair(target, i);
    if (i < length) target[i] = this.normal();
    return target;
  }

  /**
   * Saves the state of the stream, as plain data.
   *
   * @returns A copy that later draws do not change.
   */
  save(): StateTree {
    return {
      generator: Int32Array.from(this.#generator.getState()),
      key: this.#key.slice(),
      spare: this.#spare,
    };
  }

  /**
   * Restores a state that {@linkcode RandomStream.save} returned.
   *
   * @param state The state.
   * @throws {TypeError} If it is not the state of a stream.
   */
  load(state: StateTree): void {
    const { generator, key, spare } = (state ?? {}) as SavedStream;
    const isWords = (it: unknown): boolean =>
      it instanceof Int32Array && it.length === 4;
    if (!isWords(generator) || !isWords(key)) {
      throw new TypeError(
        "Cannot load a random stream: expected its generator and key, four words each",
      );
    }
    this.#generator = xoroshiro128plusFromState([...generator]);
    this.#key = key.slice();
    this.#spare = spare;
  }
}
