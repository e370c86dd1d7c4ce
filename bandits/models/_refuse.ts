import type { OptionKind } from "@bellman/files/options";

/** Makes the kind of an option that is a number. */
export function numberKind(
  expected: string,
  isFine: (it: number) => boolean,
): OptionKind {
  return ["number", expected, isFine];
}

/** Returns the error of a number that does not fit, in one line. */
export function outOfRange(what: string, expected: string): RangeError {
  return new RangeError(`Cannot ${what}: expected ${expected}`);
}

/** Returns the error of a value of another kind, in one line. */
export function mismatch(what: string, expected: string): TypeError {
  return new TypeError(`Cannot ${what}: expected ${expected}`);
}
