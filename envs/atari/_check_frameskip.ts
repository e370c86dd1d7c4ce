/** Throws unless so many frames can be taken in a step. */
export function checkFrameskip(skip: number): void {
  if (Number.isInteger(skip) && skip >= 1) return;
  throw new RangeError(
    `Cannot take ${skip} frames in a step: expected a whole number of at least 1`,
  );
}
