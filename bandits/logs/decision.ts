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
  const lines = text.split("\n");
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

/** Returns a propensity of a line. */
export function propensityOf(line: number, value: unknown): number {
  if (typeof value === "number" && value > 0 && value <= 1) return value;
  throw lineError(
    line,
    `it has propensity ${
      JSON.stringify(value)
    }, expected a number above 0, up to 1`,
  );
}

/** Returns a reward of a line. */
export function rewardOf(line: number, value: unknown): number {
  if (Number.isFinite(value)) return value as number;
  throw lineError(
    line,
    `it has reward ${JSON.stringify(value)}, expected a finite number`,
  );
}
