import type { BoardIndex } from "./board_index.ts";

/** Milliseconds between two looks at what runs, and at everything. */
const LIVE_MS = 500, ALL_MS = { least: 1_000, most: 5_000 };
/** Part of the time that looks at everything may take. */
const SHARE = 0.01;

/**
 * Looks at the folders again and again, as long as somebody wants to know: often at
 * what runs, at everything as often as it takes no more than a hundredth of the time.
 * Sizes are asked for, as systems tell of few changes, and of none on network drives.
 */
export class Watch {
  readonly #index: BoardIndex;
  readonly #listeners = new Set<() => void>();
  #looking: Promise<void> | undefined;
  #nextAll = 0;
  #lookedAt = 0;
  #isRunning = false;
  #wake = () => {};

  constructor(index: BoardIndex) {
    this.#index = index;
  }

  /**
   * Calls a function after each look, until it is released.
   *
   * @returns A function that releases it.
   */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    this.#wake();
    if (!this.#isRunning) this.#run();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#wake();
    };
  }

  /** Looks at everything, unless that was just done. */
  async look(): Promise<void> {
    if (performance.now() - this.#lookedAt > LIVE_MS || this.#lookedAt === 0) {
      this.#nextAll = 0;
      await this.#look();
    }
    await this.#looking;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#listeners.size > 0) {
      await this.#look();
      for (const listener of this.#listeners) listener();
      const untilAll = Math.max(0, this.#nextAll - performance.now());
      await this.#sleep(
        this.#index.isLive ? Math.min(LIVE_MS, untilAll) : untilAll,
      );
    }
    this.#isRunning = false;
  }

  /** Waits; a new listener ends that, if the last look was a while ago. */
  async #sleep(duration: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, duration);
    this.#wake = () => {
      const isStale = performance.now() - this.#lookedAt > LIVE_MS;
      if (isStale || this.#listeners.size === 0) resolve();
    };
    await promise;
    clearTimeout(timer);
    this.#wake = () => {};
  }

  /** Looks, or waits for the look that is under way. */
  async #look(): Promise<void> {
    this.#looking ??= this.#lookNow().finally(() => this.#looking = undefined);
    await this.#looking;
  }

  async #lookNow(): Promise<void> {
    const start = performance.now();
    if (start < this.#nextAll) await this.#index.lookAtLive();
    else {
      await this.#index.lookAtAll();
      const took = performance.now() - start;
      const wait = Math.min(ALL_MS.most, Math.max(ALL_MS.least, took / SHARE));
      this.#nextAll = performance.now() + wait;
    }
    this.#lookedAt = performance.now();
  }
}
