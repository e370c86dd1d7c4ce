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
