import type { RandomSource, StateTree } from "@bellman/types";
import { inspect } from "@bellman/files";
import { refuseUnknown } from "@bellman/files/options";
import { RandomStream } from "@bellman/random";
import { sha256 } from "@noble/hashes/sha2.js";
import { uniformInt } from "pure-rand/distribution/uniformInt";
import { countCopies } from "./spaces/_action_rows.ts";

/**
 * Checks options of `reset`, which is called often: an object, of these names where an
 * environment has no others.
 */
export function checkReset(
  options: object | undefined,
  names?: readonly string[],
): void {
  if (options === undefined) return;
  if (typeof options !== "object" || options === null) {
    throw new TypeError(
      `Cannot reset an environment with ${
        inspect(options)
      }: expected options, such as { seed: 0 }`,
    );
  }
  if (names === undefined) return;
  for (const name in options) {
    if (!names.includes(name)) refuseUnknown(options, names, "reset");
  }
}

/** Options of `reset` of a single environment. */
export const RESET: readonly string[] = ["seed", "parameters", "random"];

/** Options of `reset` of several. */
export const VEC_RESET: readonly string[] = ["seed", "keepSeeds"];

/** Checks the seed of a random stream. */
export function checkSeed(seed: number): void {
  if (Number.isSafeInteger(seed) && seed >= 0) return;
  throw new RangeError(
    `Cannot seed an environment with ${seed}: expected a whole number of at least 0`,
  );
}

function hash(text: string): DataView {
  return new DataView(sha256(new TextEncoder().encode(text)).buffer);
}

/** Seed of environments that were never given one, so that runs are repeatable. */
export const DEFAULT_SEED = 0;

/**
 * Derives the seed of one environment among several: nearby seeds and indices
 * share nothing.
 *
 * @param seed Seed of all environments.
 * @param copy Index of the environment.
 * @returns A whole number below 2^53.
 * @throws {RangeError} If the seed is not a whole number of at least 0.
 * @example
 * ```ts
 * import { deriveSeed } from "@bellman/envs";
 * import { assertEquals, assertNotEquals } from "@std/assert";
 *
 * assertEquals(deriveSeed(7, 0), deriveSeed(7, 0));
 * assertNotEquals(deriveSeed(7, 0), deriveSeed(7, 1));
 * ```
 */
export function deriveSeed(seed: number, copy: number): number {
  checkSeed(seed);
  const digest = hash(`seed ${seed} of copy ${copy}`);
  return digest.getUint32(0) * 2 ** 21 + (digest.getUint32(4) >>> 11);
}

/**
 * Seeded stream of random numbers whose state can be saved: xoroshiro128+,
 * seeded with 128 bits of SHA-256.
 *
 * @example
 * ```ts
 * import { SeededRandom } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const random = new SeededRandom(3);
 * const state = random.save();
 * const drawn = random.normal();
 * random.load(state);
 * assertEquals(random.normal(), drawn);
 * ```
 */
export class SeededRandom extends RandomStream implements RandomSource {
  /**
   * Makes a stream.
   *
   * @param seed Whole number of at least 0.
   * @throws {RangeError} If it is not such a number.
   */
  constructor(seed: number) {
    checkSeed(seed);
    const digest = hash(`environment ${seed}`);
    super([0, 4, 8, 12].map((at) => digest.getInt32(at)));
  }

  /**
   * Draws a whole number from 0 up to and without `n`.
   *
   * @param n Number of values.
   * @returns The number.
   */
  integer(n: number): number {
    return uniformInt(this.generator, 0, n - 1);
  }
}

/**
 * Makes the seeds of a vector environment from the seed that `reset` was given: a
 * number gives environment `i` the seed `deriveSeed(seed, i)`, a list each its
 * own. So environments `first` to `first + n` of a larger whole can be hosted
 * elsewhere with the same numbers.
 *
 * @param seed Seed of all environments, or one for each.
 * @param numEnvs Number of environments.
 * @returns One seed for each.
 * @throws {RangeError} If a seed is not a whole number of at least 0, or the
 * list is of another length.
 * @example
 * ```ts
 * import { copySeeds, deriveSeed } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(copySeeds(7, 2), [deriveSeed(7, 0), deriveSeed(7, 1)]);
 * assertEquals(copySeeds([5, 3], 2), [5, 3]);
 * ```
 */
export function copySeeds(
  seed: number | readonly number[],
  numEnvs: number,
): readonly number[] {
  if (typeof seed === "number") {
    return Array.from({ length: numEnvs }, (_, i) => deriveSeed(seed, i));
  }
  if (seed.length !== numEnvs) {
    throw new RangeError(
      `Cannot seed ${
        countCopies(numEnvs)
      } with ${seed.length} seeds: expected one for each copy`,
    );
  }
  seed.forEach(checkSeed);
  return seed;
}

/** Random streams of environments that one object holds. */
export class EnvStreams {
  #streams: SeededRandom[] = [];

  /** True where there are streams. */
  get areSeeded(): boolean {
    return this.#streams.length > 0;
  }

  /**
   * Restarts the streams; without a seed they continue, from those of the
   * default one if there were none.
   *
   * @throws {RangeError} If a seed is wrong, or there are too few or too many.
   */
  seed(numEnvs: number, seed?: number | readonly number[]): void {
    if (seed === undefined && this.areSeeded) return;
    this.#streams = copySeeds(seed ?? DEFAULT_SEED, numEnvs)
      .map((it) => new SeededRandom(it));
  }

  /** Returns the stream of an environment. */
  of(env: number): SeededRandom {
    return this.#streams[env];
  }

  /** Saves the states of all streams. */
  save(): StateTree {
    return this.#streams.map((stream) => stream.save());
  }

  /** Restores states. */
  load(states: StateTree): void {
    this.#streams = (states as StateTree[]).map((state) => {
      const stream = new SeededRandom(DEFAULT_SEED);
      stream.load(state);
      return stream;
    });
  }
}
