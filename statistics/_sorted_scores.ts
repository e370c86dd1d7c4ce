/**
 * Scores in sorted order. A resample is represented by the count of each score, so that
 * it need not be sorted.
 */
export class SortedScores {
  /** Distinct scores in ascending order. */
  readonly values: Float64Array;
  /** Count of each value in the last resample. */
  readonly counts: Uint32Array;
  readonly #ranks: Uint32Array;

  constructor(scores: Float64Array) {
    this.values = Float64Array.from(new Set(scores.toSorted()));
    this.counts = new Uint32Array(this.values.length);
    const ranks = new Map(Array.from(this.values, (value, i) => [value, i]));
    this.#ranks = Uint32Array.from(scores, (it) => ranks.get(it)!);
  }

  /** Counts the scores at the indices of a resample. */
  count(picked: Uint32Array): void {
    const { counts } = this, ranks = this.#ranks;
    counts.fill(0);
    for (let i = 0; i < picked.length; i++) counts[ranks[picked[i]]]++;
  }

  /** Counts a resample and returns the mean of its middle half. */
  interquartileMean(picked: Uint32Array): number {
    this.count(picked);
    const { counts, values } = this;
    const cut = Math.floor(picked.length / 4), end = picked.length - cut;
    let i = 0, seen = counts[0];
    while (seen <= cut) seen += counts[++i];
    let sum = (Math.min(seen, end) - cut) * values[i];
    while (seen < end) {
      const count = Math.min(counts[++i], end - seen);
      seen += count;
      sum += count * values[i];
    }
    return sum / (end - cut);
  }
}
