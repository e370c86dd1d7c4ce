/** Looks at a shared word for a moment before its thread goes to sleep. */
export class Spinner {
  #most: number;
  #looks: number;

  /**
   * @param most How often it looks at most; 0 for never.
   */
  constructor(most: number) {
    this.#most = most;
    this.#looks = most;
  }

  /**
   * Waits until a word is no longer of a value.
   *
   * Looking pays where the other side answers at once, and only takes time
   * from it where both share a core: so it looks half as often each time that
   * it looked in vain, and more often again when it need not have slept.
   *
   * @returns Whether it changed in time.
   */
  wait(
    words: Int32Array,
    at: number,
    { value, timeoutMs = Infinity }: { value: number; timeoutMs?: number },
  ): boolean {
    for (let i = 0; i < this.#looks; i++) {
      if (Atomics.load(words, at) !== value) {
        this.#looks = Math.min(this.#most, 2 * this.#looks);
        return true;
      }
      Atomics.pause();
    }
    this.#looks = Math.max(this.#looks >> 1, Math.min(this.#most, LEAST));
    return Atomics.wait(words, at, value, timeoutMs) !== "timed-out";
  }
}

/** Looks that cost about a microsecond, so that it finds out when they pay. */
const LEAST = 8;
