/** Milliseconds of work after which others have a turn. */
const WORK_MS = 8;

/** Gives way to other work of the event loop, where some has been done for a while. */
export class Turns {
  #since = performance.now();

  /** Lets others have a turn, if it is time. */
  async take(): Promise<void> {
    if (performance.now() - this.#since < WORK_MS) return;
    await new Promise<void>((resolve) => setTimeout(resolve));
    this.#since = performance.now();
  }
}
