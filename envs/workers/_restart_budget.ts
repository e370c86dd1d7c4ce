/** Bounds how often something may be restarted in a window of time. */
export class RestartBudget {
  #restarts: number;
  #windowMs: number;
  #times: number[] = [];

  constructor(restarts: number, windowMs: number) {
    this.#restarts = restarts;
    this.#windowMs = windowMs;
  }

  /** Restarts within the window up to now. */
  spent(now: number): number {
    this.#times = this.#times.filter((time) => now - time < this.#windowMs);
    return this.#times.length;
  }

  /** Takes a restart now, if one is left. */
  take(now: number): boolean {
    if (this.spent(now) >= this.#restarts) return false;
    this.#times.push(now);
    return true;
  }
}
