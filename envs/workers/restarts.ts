import { EnvDataError } from "../env_data_error.ts";
import { printToStderr } from "./_print_to_stderr.ts";
import { firstLine, type HostFailure } from "./host_failure.ts";

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
   * Restarts of a host that are allowed within ten minutes.
   *
   * @default 10
   */
  restarts?: number;
  /**
   * Callback that reports a restart, before it is done. If it throws, nothing
   * continues: this call and all later ones throw that error.
   *
   * @default a function that prints a line to stderr, and where the host threw
   */
  onRestart?: (event: RestartEvent) => void;
}

/** Names of those options. */
export const HOST_OPTIONS: readonly (keyof HostOptions)[] = [
  "stepTimeoutMs",
  "startTimeoutMs",
  "restarts",
  "onRestart",
];

/** Time within which restarts are counted. */
const WINDOW_MS = 600_000;

/** A host that is being replaced. */
export interface RestartEvent {
  /** Number of the host: that of its group, or of the worker. */
  readonly host: number;
  /** Name of it, such as `environments 4 to 7`. */
  readonly name: string;
  /** Failure, with the host's own stack, or what a process printed before it ended. */
  readonly error: HostFailure;
  /** Restarts of the host within the window, this one included. */
  readonly restarts: number;
  /** Restarts that are allowed. */
  readonly limit: number;
}

/**
 * Describes a restart in one line of text, with the line of code that threw.
 *
 * @param event The restart.
 * @returns The line, without an end of line.
 * @example
 * ```ts
 * import { describeRestart, HostFailure } from "@bellman/envs/workers";
 * import { assertEquals } from "@std/assert";
 *
 * const line = describeRestart({
 *   host: 1,
 *   name: "environments 4 to 7",
 *   error: new HostFailure("error", "no ball", {
 *     name: "RangeError",
 *     stack: "RangeError: no ball\n    at play (game.ts:3:14)",
 *   }),
 *   restarts: 2,
 *   limit: 10,
 * });
 * assertEquals(
 *   line,
 *   "Restarting environments 4 to 7, restart 2 of at most 10 within 600 s: it threw RangeError: no ball, at game.ts:3:14",
 * );
 * ```
 */
export function describeRestart(event: RestartEvent): string {
  const { name, error, restarts, limit } = event;
  return `Restarting ${name}, restart ${restarts} of at most ${limit} within ${
    WINDOW_MS / 1000
  } s: ${firstLine(error.what)}${placeOf(error)}`;
}

/** Names the line that threw, where the host knows it. */
function placeOf({ reason, stack = "" }: HostFailure): string {
  const [, place] = /\n\s+at (?:.* \()?(\S+:\d+:\d+)\)?/.exec(stack) ?? [];
  return reason !== "error" || place === undefined ? "" : `, at ${place}`;
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
  #onRestart: (event: RestartEvent) => void;
  /** Times of the restarts of each host within the window. */
  #times = new Map<number, number[]>();

  constructor(options: HostOptions) {
    const { stepTimeoutMs = 60_000, startTimeoutMs = 120_000 } = options;
    const { restarts = 10, onRestart = warn } = options;
    checkCount("stepTimeoutMs", stepTimeoutMs, 1);
    checkCount("startTimeoutMs", startTimeoutMs, 1);
    checkCount("restarts", restarts, 0);
    this.stepTimeoutMs = stepTimeoutMs;
    this.startTimeoutMs = startTimeoutMs;
    this.#onRestart = onRestart;
    this.#limit = restarts;
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
    const recent = (this.#times.get(host) ?? [])
      .filter((it) => now - it < WINDOW_MS);
    // Starts that take long may each be alone in their window.
    const isInRow = inRow === limit;
    if (isInRow || recent.length >= limit) {
      throw this.broken = new Error(
        `Cannot go on with ${name}: it was restarted ${limit} times ${
          isInRow ? "in a row" : `within ${WINDOW_MS / 1000} s`
        }, and now ${firstLine(error.what)}`,
        { cause: error },
      );
    }
    this.#times.set(host, [...recent, now]);
    const restarts = recent.length + 1;
    try {
      this.#onRestart({ host, name, error, restarts, limit });
    } catch (thrown) {
      throw this.broken = thrown as Error;
    }
  }
}
