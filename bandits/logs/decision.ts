/**
 * Decision of a log.
 *
 * @typeParam A Name of an action.
 * @typeParam C Context.
 */
export interface LoggedDecision<A, C> {
  /** Name of the decision. */
  id?: string;
  /** Context that it was made in. */
  context: C;
  /** Action that was taken. */
  action: A;
  /** Chance that it was chosen with, above 0 and up to 1. */
  propensity: number;
  /** Its reward; left out where it never came. */
  reward?: number;
  /** Actions that were allowed; left out where all were. */
  allowed?: readonly A[];
}

/** Throws for a line of a log that is wrong. */
export function check(
  isFine: boolean,
  line: number,
  problem: string,
): asserts isFine {
  if (isFine) return;
  throw new SyntaxError(`Cannot read line ${line} of the log: ${problem}`);
}

/** Returns true for an object that is no list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Parses the lines of a log that are not empty, each with its number from 1. */
export function* parseLines(
  text: string,
): Generator<[line: number, value: Record<string, unknown>]> {
  // The mark of the byte order, with which some programs start a file, is no text.
  const lines = text.replace(/^\ufeff/, "").split("\n");
  for (let i = 0; i < lines.length; i++) {
    if (lines[i].trim() === "") continue;
    let value: unknown;
    try {
      value = JSON.parse(lines[i]);
    } catch {
      check(false, i + 1, "it is not JSON");
    }
    check(isRecord(value), i + 1, "expected an object");
    yield [i + 1, value];
  }
}

/** Returns a number of a line: a `propensity`, or another one, which is finite. */
export function numberOf(line: number, name: string, value: unknown): number {
  const number = Number.isFinite(value) ? value as number : NaN;
  const [isFine, expected] = name === "propensity"
    ? [number > 0 && number <= 1, "a number above 0, up to 1"]
    : [!Number.isNaN(number), "a finite number"];
  const text = JSON.stringify(value);
  check(isFine, line, `it has ${name} ${text}, expected ${expected}`);
  return number;
}
