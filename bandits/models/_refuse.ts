/** Returns the error of a number that does not fit, in one line. */
export function outOfRange(what: string, expected: string): RangeError {
  return new RangeError(`Cannot ${what}: expected ${expected}`);
}

/** Returns the error of a value of another kind, in one line. */
export function mismatch(what: string, expected: string): TypeError {
  return new TypeError(`Cannot ${what}: expected ${expected}`);
}
