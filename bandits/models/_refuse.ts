import type { OptionKind } from "@bellman/files/options";

/** Largest feature and reward: sums of squares of larger ones might overflow. */
const LARGEST = 1e30, SMALLEST = 1e-30;

/** Returns the error of a number that does not fit, in one line. */
export function outOfRange(what: string, expected: string): RangeError {
  return new RangeError(`Cannot ${what}: expected ${expected}`);
}

/** Returns the error of a value of another kind, in one line. */
export function mismatch(what: string, expected: string): TypeError {
  return new TypeError(`Cannot ${what}: expected ${expected}`);
}

/** Returns the error of a state that is damaged. */
export function damaged(part: string): TypeError {
  return mismatch("load a damaged bandit", part);
}

/** Shows a value: a text in quotes, as it may look like a number. */
export function shown(value: unknown): string {
  return typeof value === "string" ? `"${value}"` : String(value);
}

/** True for a number that may be learned. */
export function isModerate(value: unknown): value is number {
  return typeof value === "number" && Math.abs(value) <= LARGEST;
}

/** Description of such a number. */
export const MODERATE = `a finite number, up to ${LARGEST}`;

/** Number above 0, whose inverse does not overflow. */
export const POSITIVE: OptionKind = [
  "number",
  `a number from ${SMALLEST} to ${LARGEST}`,
  (it: number) => it >= SMALLEST && it <= LARGEST,
];
