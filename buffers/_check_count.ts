/** Throws unless a size is a whole number above 0. */
export function checkCount(name: string, count: number): void {
  if (Number.isSafeInteger(count) && count > 0) return;
  throw new RangeError(
    `Cannot make a buffer with ${name} ${count}: expected a whole number above 0`,
  );
}
