/**
 * Yields to the event loop now and then. Awaiting promises that are already
 * resolved does not, and signals (Ctrl-C) and timers would wait forever.
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
  /** Calls between two looks at the clock. */
  #stride = 1;

  /**
   * True where a quarter of a second has passed: without a turn signals wait.
   * Looks at the clock on every 16th call only, unless these take long.
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
   * Waits for one turn of the event loop. A timer takes a millisecond of it, in
   * which the runtime looks for what has arrived from outside; turns without one
   * go by, twenty of them, before a signal is heard. Where calls take long, there
   * may be no next time: then it waits for three turns, as one may be too few.
   */
  async take(): Promise<void> {
    for (let turns = this.#stride === 1 ? 3 : 1; turns > 0; turns--) {
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    this.#last = performance.now();
  }
}
