import type { CurvePoints, Thinning } from "./messages.ts";

/** Numbers of each bucket: those of extremes are its lowest and highest point. */
const FIELDS = 6;

/**
 * Takes the points of a curve, however many follow, and keeps about as many as are
 * wanted: all of them up to there, then some for each bucket of points that follow
 * each other. When all buckets are full, each two are made one.
 */
export class Thinner {
  readonly #isMeans: boolean;
  readonly #most: number;
  /** Points of a full bucket. */
  #width = 1;
  #buckets = 0;
  /** Points in the last bucket. */
  #filled = 0;
  /**
   * Fields of the buckets. Means: sums of x and y, number. Extremes: x, y and number of
   * the lowest and of the highest point.
   */
  #fields: number[] = [];
  #count = 0;

  /**
   * Begins a curve.
   *
   * @param points Points to keep at most.
   * @param thinning Points that are kept of a bucket.
   */
  constructor(points: number, thinning: Thinning) {
    this.#isMeans = thinning === "means";
    // Even, so that buckets can be joined in pairs.
    const most = this.#isMeans ? points : points / 2;
    this.#most = Math.max(2, 2 * Math.floor(most / 2));
  }

  /** Adds the next point. */
  add(x: number, y: number): void {
    if (this.#buckets === 0 || this.#filled === this.#width) this.#next();
    const at = FIELDS * (this.#buckets - 1);
    const isFirst = this.#filled === 0;
    this.#put(at, { x, y, isFirst });
    this.#filled++;
    this.#count++;
  }

  /** Lists the points that are kept, in the order in which they came. */
  points(): CurvePoints {
    const x: number[] = [], y: number[] = [], fields = this.#fields;
    for (let bucket = 0; bucket < this.#buckets; bucket++) {
      const at = FIELDS * bucket;
      if (this.#isMeans) {
        x.push(fields[at] / fields[at + 2]);
        y.push(fields[at + 1] / fields[at + 2]);
        continue;
      }
      const [low, high] = [fields[at + 2], fields[at + 5]];
      const first = low < high ? at : at + 3, second = low < high ? at + 3 : at;
      x.push(fields[first]);
      y.push(fields[first + 1]);
      if (low === high) continue;
      x.push(fields[second]);
      y.push(fields[second + 1]);
    }
    return { x, y };
  }

  /** Begins a bucket, for which others may be joined. */
  #next(): void {
    if (this.#buckets === this.#most) this.#join();
    this.#buckets++;
    this.#filled = 0;
  }

  #put(
    at: number,
    { x, y, isFirst }: { x: number; y: number; isFirst: boolean },
  ): void {
    const fields = this.#fields, count = this.#count;
    if (this.#isMeans) {
      fields[at] = (isFirst ? 0 : fields[at]) + x;
      fields[at + 1] = (isFirst ? 0 : fields[at + 1]) + y;
      fields[at + 2] = (isFirst ? 0 : fields[at + 2]) + 1;
      for (let i = 3; isFirst && i < FIELDS; i++) fields[at + i] = 0;
      return;
    }
    const set = (from: number) => {
      fields[from] = x;
      fields[from + 1] = y;
      fields[from + 2] = count;
    };
    if (isFirst || y < fields[at + 1]) set(at);
    // Of equal ones the first and the last, so that both of two are kept.
    if (isFirst || y >= fields[at + 4]) set(at + 3);
  }

  #join(): void {
    const fields = this.#fields;
    this.#buckets /= 2;
    this.#width *= 2;
    for (let bucket = 0; bucket < this.#buckets; bucket++) {
      const to = FIELDS * bucket, a = 2 * to, b = a + FIELDS;
      const low = this.#isMeans || fields[a + 1] <= fields[b + 1] ? a : b;
      const high = this.#isMeans || fields[a + 4] > fields[b + 4] ? a : b;
      for (let i = 0; i < 3; i++) {
        fields[to + i] = this.#isMeans
          ? fields[a + i] + fields[b + i]
          : fields[low + i];
      }
      for (let i = 3; i < FIELDS; i++) fields[to + i] = fields[high + i];
    }
  }
}
