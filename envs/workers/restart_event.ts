import { firstLine, plainText } from "./_plain_text.ts";
import type { GroupRange } from "./group_hosts.ts";
import type { HostFailure } from "./host_failure.ts";

/** A group whose host is being replaced. */
export interface RestartEvent {
  /** Which group. */
  readonly group: number;
  /** Which copies it has. */
  readonly copies: GroupRange;
  /** What went wrong, with the host's own error and stack. */
  readonly error: HostFailure;
  /** What the host printed last; empty for a worker, which prints here. */
  readonly output: string;
  /** Restarts of the group within the window, this one included. */
  readonly restarts: number;
  /** How many there may be. */
  readonly limit: number;
  /** The window, in milliseconds. */
  readonly windowMs: number;
}

/**
 * A restart as one line of text.
 *
 * @param event The restart.
 * @returns The line, without an end of line.
 * @example
 * ```ts
 * import { describeRestart, HostFailure } from "@bellman/envs/workers";
 * import { assertEquals } from "@std/assert";
 *
 * const line = describeRestart({
 *   group: 1,
 *   copies: { first: 4, numEnvs: 4 },
 *   error: new HostFailure("error", "no ball", { name: "RangeError" }),
 *   output: "",
 *   restarts: 2,
 *   limit: 10,
 *   windowMs: 60_000,
 * });
 * assertEquals(
 *   line,
 *   "Restarting copies 4 to 7, restart 2 of at most 10 within 60 s: it threw RangeError: no ball",
 * );
 * ```
 */
export function describeRestart(event: RestartEvent): string {
  const { copies, error, restarts, limit, windowMs } = event;
  return `Restarting ${
    nameCopies(copies)
  }, restart ${restarts} of at most ${limit} within ${windowMs / 1000} s: ${
    firstLine(error.what)
  }`;
}

/** The copies of a group in words. */
export function nameCopies({ first, numEnvs }: GroupRange): string {
  return numEnvs === 1
    ? `copy ${first}`
    : `copies ${first} to ${first + numEnvs - 1}`;
}

/**
 * A restart as {@linkcode describeRestart} tells it, and below that the host's
 * own error and stack, where it threw.
 *
 * @param event The restart.
 * @returns The lines, without an end of line.
 * @example
 * ```ts
 * import { explainRestart, HostFailure } from "@bellman/envs/workers";
 * import { assertEquals } from "@std/assert";
 *
 * const stack = "RangeError: no ball\n    at play.ts:3";
 * const lines = explainRestart({
 *   group: 1,
 *   copies: { first: 4, numEnvs: 1 },
 *   error: new HostFailure("error", "no ball", { name: "RangeError", stack }),
 *   output: "",
 *   restarts: 2,
 *   limit: 10,
 *   windowMs: 60_000,
 * });
 * assertEquals(lines.split("\n").slice(1).join("\n"), stack);
 * ```
 */
export function explainRestart(event: RestartEvent): string {
  const { reason, stack } = event.error;
  const line = describeRestart(event);
  return reason === "error" && stack ? `${line}\n${plainText(stack)}` : line;
}
