import { builtin } from "@bellman/files";
import type { EnvSlice } from "./group_hosts.ts";

/** Returns the first line of a text, without colours: what it says in short. */
export function firstLine(text: string): string {
  const plain = builtin("node:util").stripVTControlCharacters(text);
  return plain.trim().split("\n", 1)[0].trimEnd();
}

/**
 * Why a host gave no good answer: it threw (`error`), it is gone (`exit`), or
 * it stayed silent (`timeout`).
 */
export type FailureReason = "error" | "exit" | "timeout";

/** Errors that keep their class on the way from a host. */
const CLASSES = new Map<string, new (message: string) => Error>(
  Object.entries({
    ...{ RangeError, SyntaxError, TypeError, EnvDataError: TypeError },
  }),
);

/**
 * A host that threw, died or stayed silent. Its message and stack are those of
 * the error in the host, where there was one.
 *
 * @example
 * ```ts
 * import { HostFailure } from "@bellman/envs/workers";
 * import { assert } from "@std/assert";
 *
 * const failure = new HostFailure("error", "Cannot step", { name: "TypeError" });
 * assert(failure.toThrow() instanceof TypeError);
 * ```
 */
export class HostFailure extends Error {
  /** Kind of the failure. */
  readonly reason: FailureReason;
  /** The class of the error that the host threw. */
  readonly thrown: string;
  /** True where the message is a sentence that says all. */
  readonly isWhole: boolean;

  /**
   * Describes a failure.
   *
   * @param reason Kind of the failure.
   * @param message The host's error, or what happened to it.
   * @param thrown More of the host's error.
   */
  constructor(
    reason: FailureReason,
    message: string,
    { name = "Error", stack, isWhole = false }: Partial<
      Omit<SentError, "message" | "reason">
    > = {},
  ) {
    super(message);
    this.name = "HostFailure";
    this.reason = reason;
    this.thrown = name;
    this.isWhole = isWhole;
    if (stack !== undefined) this.stack = stack;
  }

  /** Describes the failure, as the end of a sentence about the host. */
  get what(): string {
    return this.reason === "error"
      ? `it threw ${this.thrown}: ${this.message}`
      : this.message;
  }

  /**
   * Makes the error as if it had been thrown here.
   *
   * @returns One of the class that the host threw, with this as its cause.
   */
  toThrow(): Error {
    const error = new (CLASSES.get(this.thrown) ?? Error)(this.message);
    error.cause = this;
    return error;
  }
}

/** Names the environments of a group. */
export function nameGroup({ first, numEnvs }: EnvSlice): string {
  return numEnvs === 1
    ? `environment ${first}`
    : `environments ${first} to ${first + numEnvs - 1}`;
}

/** Makes the error of a host that could not be started. */
export function startError(name: string, failure: HostFailure): Error {
  const { reason, message, what } = failure, error = failure.toThrow();
  const why = firstLine(reason === "error" ? message : what);
  error.message = `Cannot start ${name}: ${why}`;
  return error;
}

/** Makes the failure of a host that is silent, and has perhaps printed something. */
export function silentFailure(stack?: string): HostFailure {
  return new HostFailure("timeout", "it is silent", { stack });
}

/** Says how long a host that is silent was waited for. */
export function timed(failure: HostFailure, timeoutMs: number): HostFailure {
  if (failure.reason !== "timeout") return failure;
  const message = `it gave no answer within ${timeoutMs} ms`;
  return new HostFailure("timeout", message, failure);
}

/** An error that a host threw, as data. */
export interface SentError {
  /** Name of its class. */
  readonly name: string;
  /** Its message. */
  readonly message: string;
  /** Its stack, where there is one. */
  readonly stack?: string;
  /**
   * Kind of the failure.
   *
   * @default "error"
   */
  readonly reason?: FailureReason;
  /**
   * True where the message is a sentence that says all.
   *
   * @default false
   */
  readonly isWhole?: boolean;
}

/** Turns an error into data. */
export function sendableError(error: unknown): SentError {
  if (!(error instanceof Error)) {
    return { name: "Error", message: String(error) };
  }
  const { name, message, stack } = error;
  if (!(error instanceof HostFailure)) return { name, message, stack };
  const { thrown, reason, isWhole } = error;
  return { name: thrown, message, stack, reason, isWhole };
}

/** Turns the error that a host sent into a failure. */
export function thrownFailure(
  { message, reason = "error", ...thrown }: SentError,
): HostFailure {
  return new HostFailure(reason, message, thrown);
}
