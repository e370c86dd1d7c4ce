import { EnvDataError } from "../env_data_error.ts";
import { printToStderr } from "./_print_to_stderr.ts";
import {
  describeRestart,
  firstLine,
  type HostFailure,
  type RestartEvent,
} from "./host_failure.ts";

/** Handling of hosts that fail. */
export interface HostOptions {
  /**
   * Time for a host to carry out a command, in milliseconds; where a restore
   * plays episodes again, that long for each action.
   *
   * @default 60_000
   */
  stepTimeoutMs?: number;
  /**
   * Time for a host to start and to make its environments, in milliseconds.
   *
   * @default 120_000
   */
  startTimeoutMs?: number;
  /**
   * Restarts of a host that are allowed within the window.
   *
   * @default 10
   */
  restarts?: number;
  /**
   * The window, in milliseconds.
   *
   * @default 600_000
   */
  windowMs?: number;
  /**
   * Callback that reports a restart, before it is done. If it throws, nothing goes
   * on: this call and all later ones throw that error.
   *
   * @default a function that prints a line to stderr, and where the host threw
   */
  onRestart?: (event: RestartEvent) => void;
}

/** Throws unless an option is a whole number of at least `least`, or infinite. */
export function checkCount(name: string, value: number, least: number): void {
  if (value === Infinity || Number.isSafeInteger(value) && value >= least) {
    return;
  }
  throw new RangeError(
    `Cannot host environments with ${name} ${value}: expected a whole number of at least ${least}`,
  );
}

function warn(event: RestartEvent): void {
  const line = `Warning: ${describeRestart(event)}\n`;
  printToStderr(new TextEncoder().encode(line));
}

/** Restarts of hosts that failed, within bounds. */
export class Restarts {
  readonly stepTimeoutMs: number;
  readonly startTimeoutMs: number;
  /** Error that ended everything, if one did. */
  broken: Error | undefined;
  #limit: number;
  #windowMs: number;
  #onRestart: (event: RestartEvent) => void;
  /** Times of the restarts of each host within the window. */
  #times = new Map<number, number[]>();

  constructor(options: HostOptions) {
    const { stepTimeoutMs = 60_000, startTimeoutMs = 120_000 } = options;
    const { restarts = 10, windowMs = 600_000, onRestart = warn } = options;
    checkCount("stepTimeoutMs", stepTimeoutMs, 1);
    checkCount("startTimeoutMs", startTimeoutMs, 1);
    checkCount("restarts", restarts, 0);
    checkCount("windowMs", windowMs, 1);
    this.stepTimeoutMs = stepTimeoutMs;
    this.startTimeoutMs = startTimeoutMs;
    this.#onRestart = onRestart;
    this.#limit = restarts;
    this.#windowMs = windowMs;
  }

  /**
   * Counts a restart and reports it.
   *
   * @param host Number of the host.
   * @param failure Its name, its error, and how many hosts of this number failed in a
   * row while they started.
   * @throws {Error} If there were too many.
   */
  note(
    host: number,
    { name, error, inRow }: {
      name: string;
      error: HostFailure;
      inRow: number;
    },
  ): void {
    // Another one would return the same again: the environment itself is wrong.
    if (error.thrown === EnvDataError.name) throw this.broken = error.toThrow();
    const now = performance.now(), limit = this.#limit;
    const windowMs = this.#windowMs;
    const recent = (this.#times.get(host) ?? [])
      .filter((it) => now - it < windowMs);
    // Starts that take long may each be alone in their window.
    const isInRow = inRow === limit;
    if (isInRow || recent.length >= limit) {
      throw this.broken = new Error(
        `Cannot go on with ${name}: it was restarted ${limit} times ${
          isInRow ? "in a row" : `within ${windowMs / 1000} s`
        }, and now ${firstLine(error.what)}`,
        { cause: error },
      );
    }
    this.#times.set(host, [...recent, now]);
    const restarts = recent.length + 1;
    try {
      this.#onRestart({ host, name, error, restarts, limit, windowMs });
    } catch (thrown) {
      throw this.broken = thrown as Error;
    }
  }
}
