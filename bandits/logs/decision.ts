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

/** Returns the error of a line of a log. */
export function lineError(line: number, problem: string): SyntaxError {
  return new SyntaxError(`Cannot read line ${line} of the log: ${problem}`);
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
      throw lineError(i + 1, "it is not JSON");
    }
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw lineError(i + 1, "expected an object");
    }
    yield [i + 1, value as Record<string, unknown>];
  }
}

/** Returns a number of a line: a `propensity`, or another one, which is finite. */
export function numberOf(line: number, name: string, value: unknown): number {
  const isChance = name === "propensity";
  const isFine = isChance ? value as number > 0 && value as number <= 1 : true;
  if (Number.isFinite(value) && isFine) return value as number;
  const expected = isChance ? "a number above 0, up to 1" : "a finite number";
  const text = JSON.stringify(value);
  throw lineError(line, `it has ${name} ${text}, expected ${expected}`);
}
