/** Throws unless a random stream can be made from a seed. */
export function checkSeed(seed: number): void {
  if (Number.isSafeInteger(seed) && seed >= 0) return;
  throw new RangeError(
    `Cannot seed an environment with ${seed}: expected a whole number of at least 0`,
  );
}
