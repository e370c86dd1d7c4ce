/**
 * Why a host gave no good answer: it threw (`error`), it is gone (`exit`), or
 * it stayed silent (`timeout`).
 */
export type FailureReason = "error" | "exit" | "timeout";

/** What is known of an error that was thrown elsewhere. */
export interface ThrownElsewhere {
  /**
   * The class of the error.
   *
   * @default "Error"
   */
  readonly name?: string;
  /**
   * Where it was thrown.
   *
   * @default nothing
   */
  readonly stack?: string;
}

/** Errors that keep their class on the way from a host. */
const CLASSES: Record<string, new (message: string) => Error> = {
  RangeError,
  SyntaxError,
  TypeError,
  EnvDataError: TypeError,
};

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
  /** What went wrong. */
  readonly reason: FailureReason;
  /** The class of the error that the host threw. */
  readonly thrown: string;

  /**
   * Describes a failure.
   *
   * @param reason What went wrong.
   * @param message The host's error, or what happened to it.
   * @param thrown More of the host's error.
   */
  constructor(
    reason: FailureReason,
    message: string,
    { name = "Error", stack }: ThrownElsewhere = {},
  ) {
    super(message);
    this.name = "HostFailure";
    this.reason = reason;
    this.thrown = name;
    if (stack !== undefined) this.stack = stack;
  }

  /** What happened, as the end of a sentence about the host. */
  get what(): string {
    return this.reason === "error"
      ? `it threw ${this.thrown}: ${this.message}`
      : this.message;
  }

  /**
   * The error as if it had been thrown here.
   *
   * @returns One of the class that the host threw, with this as its cause.
   */
  toThrow(): Error {
    const error = new (CLASSES[this.thrown] ?? Error)(this.message);
    error.cause = this;
    return error;
  }
}
