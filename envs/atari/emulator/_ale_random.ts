import { snapshotRecord } from "../../snapshot.ts";
import type { StateTree } from "@bellman/types";

const WORD = 2 ** 32;

function wordsOf(seed: number): number[] {
  return seed < WORD ? [seed] : [seed % WORD, Math.floor(seed / WORD)];
}

/** Makes a hash whose constant changes with each number that it takes. */
function hasher(constant: number, multiplier: number) {
  return (value: number): number => {
    const mixed = value ^ constant;
    constant = Math.imul(constant, multiplier);
    const product = Math.imul(mixed, constant);
    return (product ^ (product >>> 16)) >>> 0;
  };
}

function mix(a: number, b: number): number {
  const mixed = Math.imul(a, 0xca01f9dd) - Math.imul(b, 0x4973f715);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/**
 * Computes the seeds that NumPy's `SeedSequence(seed).generate_state(count)`
 * gives: by way of it, Gymnasium seeds an Atari game.
 *
 * @param seed A whole number of at least 0.
 * @param count Their number.
 * @returns Whole numbers of 32 bits.
 */
export function seedSequence(seed: number, count: number): number[] {
  const entropy = wordsOf(seed);
  const hash = hasher(0x43b0d7e5, 0x931e8875);
  const pool = [0, 1, 2, 3].map((i) => hash(entropy[i] ?? 0));
  for (let from = 0; from < pool.length; from++) {
    for (let to = 0; to < pool.length; to++) {
      if (from !== to) pool[to] = mix(pool[to], hash(pool[from]));
    }
  }
  const draw = hasher(0x8b51f9dd, 0x58f38ded);
  return Array.from({ length: count }, (_, i) => draw(pool[i % pool.length]));
}

const SIZE = 624;
const SHIFT = 397;

/**
 * The generator `std::mt19937` of C++, which the emulator draws its own numbers
 * from.
 */
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

  /** Draws a number from 0 up to and without 1, of 32 random bits. */
  uniform(): number {
    if (this.#next === SIZE) this.#twist();
    let y = this.#state[this.#next++];
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    y ^= y >>> 18;
    return (y >>> 0) / 2 ** 32;
  }

  /** Saves its state: 624 words and the place among them. */
  save(): Uint32Array {
    const saved = new Uint32Array(SIZE + 1);
    saved.set(this.#state);
    saved[SIZE] = this.#next;
    return saved;
  }

  /**
   * Resumes from a state.
   *
   * @param saved The state that `save` returned.
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

const NOOP = 0;

/**
 * Actions that stick: at each frame the one before is repeated with some
 * probability. They are drawn here and not by the emulator, whose own saved
 * states lack the action that sticks; stream and draws are those of ale-py.
 */
export class StickyActions {
  #probability: number;
  #random: MersenneTwister;
  #last: number = NOOP;

  /**
   * Starts a stream.
   *
   * @param probability Of a repetition, from 0 to 1.
   * @param seed Its lowest 32 bits count.
   */
  constructor(probability: number, seed: number) {
    this.#probability = probability;
    this.#random = new MersenneTwister(seed);
  }

  /** Draws the action of the next frame. */
  take(action: number): number {
    if (this.#random.uniform() >= this.#probability) this.#last = action;
    // The emulator draws for a second player too.
    this.#random.uniform();
    return this.#last;
  }

  /** Forgets the action before, as a new episode does. */
  reset(): void {
    this.#last = NOOP;
  }

  /** Saves random stream and last action. */
  save(): StateTree {
    return { last: this.#last, random: this.#random.save() };
  }

  /** Resumes from what `save` returned. */
  load(saved: StateTree): void {
    const { last, random } = snapshotRecord(saved, ["last", "random"]);
    this.#random.load(random);
    this.#last = last as number;
  }
}
