/**
 * True where two types are the same.
 *
 * @typeParam A One type.
 * @typeParam B The other.
 */
export type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends
  (<T>() => T extends B ? 1 : 2) ? true : false;

/** Compiles where two types are the same: `same<typeof x, Float32Array>(true)`. */
export function same<A, B>(_isSame: Same<A, B>): void {}

/** Marks a value as used. */
export function use(..._values: unknown[]): void {}
