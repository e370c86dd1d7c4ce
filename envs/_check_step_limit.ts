/** Throws unless episodes can be truncated after so many steps. */
export function checkStepLimit(maxEpisodeSteps: number): void {
  const isWhole = Number.isInteger(maxEpisodeSteps) && maxEpisodeSteps >= 1;
  if (maxEpisodeSteps === Infinity || isWhole) return;
  throw new RangeError(
    `Cannot limit episodes to ${maxEpisodeSteps} steps: expected a whole number of at least 1`,
  );
}
