/**
 * Yields to the event loop now and then. Awaiting resolved promises does not, and
 * signals (Ctrl-C) and timers would wait forever.
 *
 * @example
 * ```ts
 * import { EventLoopBreak } from "@bellman/training";
 * import { assert } from "@std/assert";
 *
 * let isHeard = false;
 * setTimeout(() => isHeard = true);
 * const turn = new EventLoopBreak();
 * while (!isHeard) {
 *   if (turn.due()) await turn.take();
 * }
 * assert(isHeard);
 * ```
 */
export class EventLoopBreak {
  #last = performance.now();
  #looked = this.#last;
  #calls = 0;
  /** Calls between two readings of the clock. */
  #stride = 1;

  /**
   * Returns true if a quarter of a second has passed since the last yield. Reads the
   * clock only on every 16th call, unless calls are slow.
   */
  due(): boolean {
    if (++this.#calls < this.#stride) return false;
    const now = performance.now();
    this.#stride = now - this.#looked > 50 ? 1 : 16;
    this.#looked = now;
    this.#calls = 0;
    return now - this.#last > 250;
  }

  /**
   * Waits for one turn of the event loop, by a timer of a millisecond: the runtime then
   * polls for signals, which may take twenty turns without a timer. If calls are slow,
   * three turns are taken, as one may be too few.
   */
  async take(): Promise<void> {
    for (let turns = this.#stride === 1 ? 3 : 1; turns > 0; turns--) {
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    this.#last = performance.now();
  }
}
