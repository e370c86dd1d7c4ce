/** Throws unless what is normalized can be clipped and divided so. */
export function checkScale(
  what: string,
  { clip, epsilon }: { clip: number; epsilon: number },
): void {
  if (!(clip > 0)) {
    throw new RangeError(
      `Cannot normalize ${what} with clip ${clip}: expected a number above 0`,
    );
  }
  if (epsilon >= 0) return;
  throw new RangeError(
    `Cannot normalize ${what} with epsilon ${epsilon}: expected a number of at least 0`,
  );
}
