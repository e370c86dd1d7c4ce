import type { FinalValues } from "./final_values.ts";
import type { Ring } from "./ring.ts";

/** Words of each ring. */
const TOTAL = 0;
const FIRST = 1;
const PUSHED = 2;
const POPPED = 3;
const ROOM = 4;
const VERSION = 5;

/** Bytes that each ring needs. */
export const SHARED_RING_BYTES = 6 * 8;

/**
 * Counters by which a writer tells readers of its ring, as atomic numbers.
 *
 * The writer first raises the number of the first step that may be drawn above
 * every step that it is about to overwrite, then writes rows, and last raises
 * the number of steps. A reader that sees a step counted sees its rows whole; it
 * reads rows, and then looks whether any of them was given up meanwhile. While
 * final values move to make room the version is odd, and then another.
 */
export class SharedRing {
  readonly #words: BigInt64Array;

  constructor(memory: SharedArrayBuffer, index: number) {
    const { BYTES_PER_ELEMENT } = BigInt64Array;
    this.#words = new BigInt64Array(
      memory,
      index * SHARED_RING_BYTES,
      SHARED_RING_BYTES / BYTES_PER_ELEMENT,
    );
  }

  #read(word: number): number {
    return Number(Atomics.load(this.#words, word));
  }

  #write(word: number, value: number): void {
    // An exchange: what is written after it is not seen before it.
    Atomics.exchange(this.#words, word, BigInt(value));
  }

  /** Raises the first step that is left, before rows are overwritten. */
  retire(firstStep: number): void {
    if (firstStep > this.#read(FIRST)) this.#write(FIRST, firstStep);
  }

  /** Raises the number of steps, after rows were written. */
  publish(ring: Ring, finals: FinalValues | undefined): void {
    if (finals !== undefined) {
      this.#write(POPPED, finals.popped);
      this.#write(PUSHED, finals.pushed);
      this.#write(ROOM, finals.room);
    }
    this.#write(TOTAL, ring.total);
  }

  /** Changes the version, before and after final values are moved. */
  changeVersion(): void {
    Atomics.add(this.#words, VERSION, 1n);
  }

  /** Brings a reader's, or a new writer's, ring up to date. */
  refresh(ring: Ring, finals: FinalValues | undefined): number {
    for (;;) {
      const version = this.#read(VERSION);
      const pushed = this.#read(PUSHED);
      const room = this.#read(ROOM);
      const total = this.#read(TOTAL);
      const popped = this.#read(POPPED);
      ring.setTotal(total, this.#read(FIRST));
      if (finals !== undefined && room > 0) {
        finals.pushed = Math.max(pushed, popped);
        finals.popped = popped;
        finals.room = room;
      }
      if (version % 2 === 0 && this.#read(VERSION) === version) return version;
    }
  }

  /** Tells whether all that was read since a version came from rows in place. */
  isVersion(version: number): boolean {
    return Number(Atomics.add(this.#words, VERSION, 0n)) === version;
  }

  /** The first step that may be drawn by now; after all reads before it. */
  get firstStep(): number {
    return Number(Atomics.add(this.#words, FIRST, 0n));
  }

  /** Starts anew at a ring's steps, while nobody writes or reads. */
  reset(ring: Ring, finals: FinalValues | undefined): void {
    this.#write(FIRST, ring.firstDrawable(ring.total));
    this.publish(ring, finals);
  }
}
