/** How a child ended. */
export interface ChildEnd {
  /** Its exit code; `undefined` where it could not be started. */
  readonly code?: number;
  /** The signal that ended it, if one did. */
  readonly signal?: string;
  /** Why it could not be started, if that is so. */
  readonly failure?: string;
  /** The last 64 kB that it printed. */
  readonly prints: string;
}

/** A child that ended while an answer of it was wanted. */
export class ChildEndedError extends Error {
  override name = "ChildEndedError";
  /** Which child. */
  readonly child: number;
  /** How it ended, and what it printed last. */
  readonly end: ChildEnd;

  /**
   * @param child Which child.
   * @param end How it ended.
   */
  constructor(child: number, end: ChildEnd) {
    super(`Child process ${child} ${describeEnd(end)}`);
    this.child = child;
    this.end = end;
  }
}

/** A child that did not answer in time. */
export class ChildTimeoutError extends Error {
  override name = "ChildTimeoutError";
  /** Which child. */
  readonly child: number;
  /** The last 64 kB that it printed. */
  readonly prints: string;

  /**
   * @param child Which child.
   * @param about How long it was waited for, in milliseconds, and its prints.
   */
  constructor(
    child: number,
    { timeoutMs, prints }: { timeoutMs: number; prints: string },
  ) {
    const last = lastLine(prints);
    super(
      `Child process ${child} did not answer within ${timeoutMs} ms` +
        (last === "" ? "" : `: its last line is '${last}'`),
    );
    this.child = child;
    this.prints = prints;
  }
}

/** The end of a child in words, with the last line that it printed. */
export function describeEnd(
  { code, signal, failure, prints }: ChildEnd,
): string {
  if (failure !== undefined) return `could not be started: ${failure}`;
  const how = signal === undefined
    ? `ended with code ${code}`
    : `was ended by ${signal}`;
  const last = lastLine(prints);
  return last === "" ? how : `${how}: its last line is '${last}'`;
}

/** The last line that says something. */
export function lastLine(text: string): string {
  return text.trimEnd().split("\n").at(-1)!.trim();
}
