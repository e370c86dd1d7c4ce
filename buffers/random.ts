/**
 * The stream of whole numbers that {@linkcode RolloutBuffer.minibatches} and
 * {@linkcode SequenceReplayBuffer.sample} draw from; a {@linkcode Random} is one.
 */
export interface RandomIntegers {
  /**
   * Draws a whole number.
   *
   * @param n How many there are to choose from.
   * @returns One of 0 to `n - 1`, each as likely.
   */
  integer(n: number): number;
}

/** Puts numbers into a random order, each order as likely. */
export function shuffle(numbers: Int32Array, random: RandomIntegers): void {
  for (let last = numbers.length - 1; last > 0; last--) {
    const other = random.integer(last + 1);
    const kept = numbers[last];
    numbers[last] = numbers[other];
    numbers[other] = kept;
  }
}
