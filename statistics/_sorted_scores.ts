/**
 * Scores in their order. A resample of them is counted, not sorted: how often
 * it has each score.
 */
export class SortedScores {
  /** The scores in ascending order, each once. */
  readonly values: Float64Array;
  /** How often the last resample has each of the values. */
  readonly counts: Uint32Array;
  readonly #ranks: Uint32Array;

  constructor(scores: Float64Array) {
    this.values = Float64Array.from(new Set(scores.toSorted()));
    this.counts = new Uint32Array(this.values.length);
    const ranks = new Map(Array.from(this.values, (value, i) => [value, i]));
    this.#ranks = Uint32Array.from(scores, (it) => ranks.get(it)!);
  }

  /** Counts the scores at the positions of a resample. */
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
