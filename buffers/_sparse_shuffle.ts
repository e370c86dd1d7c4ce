import type { Random } from "./sampler.ts";

/**
 * Draws different numbers below a large one: the first steps of a Fisher-Yates
 * shuffle of all of them, of which only those that were moved are noted, in a
 * hash table of a size by how many are drawn.
 */
export class SparseShuffle {
  /** Places that something else lies at, -1 for a free entry. */
  #places = new Int32Array(0);
  /** What lies there. */
  #numbers = new Int32Array(0);

  /** Fills an array with different numbers below `n`, in random order. */
  draw(numbers: Int32Array, n: number, random: Random): void {
    this.#clear(numbers.length);
    for (let i = 0; i < numbers.length; i++) {
      const place = i + random.integer(n - i);
      const entry = this.#find(place);
      const isMoved = this.#places[entry] === place;
      numbers[i] = isMoved ? this.#numbers[entry] : place;
      const own = this.#find(i);
      const moved = this.#places[own] === i ? this.#numbers[own] : i;
      this.#places[entry] = place;
      this.#numbers[entry] = moved;
    }
  }

  #clear(count: number): void {
    if (this.#places.length < 2 * count) {
      const size = 2 ** Math.ceil(Math.log2(2 * count));
      this.#places = new Int32Array(size);
      this.#numbers = new Int32Array(size);
    }
    this.#places.fill(-1);
  }

  /** The entry of a place, or the free one where it belongs. */
  #find(place: number): number {
    const mask = this.#places.length - 1;
    // Multiplied by 2^32 over the golden ratio, close places lie apart.
    let entry = (Math.imul(place, 0x9e3779b1) >>> 8) & mask;
    while (this.#places[entry] !== -1 && this.#places[entry] !== place) {
      entry = (entry + 1) & mask;
    }
    return entry;
  }
}
