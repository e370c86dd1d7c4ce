/** Throws unless an option is a whole number of at least `least`, or has no end. */
export function checkCount(name: string, value: number, least: number): void {
  if (value === Infinity || Number.isSafeInteger(value) && value >= least) {
    return;
  }
  throw new RangeError(
    `Cannot host environments with ${name} ${value}: expected a whole number of at least ${least}`,
  );
}
