/** Ranks whose masses are added up one by one. */
const EXACT = 1024;

/**
 * Ranks 1 to n with masses `rank^-alpha`, for any n, in constant memory.
 *
 * The masses of the first 1024 ranks are added up; those beyond are the areas
 * under `x^-alpha` from `rank - 1/2` to `rank + 1/2`, which differ from the
 * terms by less than one part in a million.
 */
export class RankDistribution {
  readonly #alpha: number;
  /** The mass up to each of the first ranks. */
  readonly #sums = new Float64Array(EXACT + 1);

  constructor(alpha: number) {
    this.#alpha = alpha;
    for (let rank = 1; rank <= EXACT; rank++) {
      this.#sums[rank] = this.#sums[rank - 1] + rank ** -alpha;
    }
  }

  /** The mass of ranks 1 to n. */
  total(n: number): number {
    if (n <= EXACT) return this.#sums[n];
    const start = EXACT + 0.5;
    const power = 1 - this.#alpha;
    const logRatio = Math.log((n + 0.5) / start);
    const area = power === 0 ? logRatio : Math.expm1(power * logRatio) / power;
    return this.#sums[EXACT] + start ** power * area;
  }

  /** The first rank up to which, of n, there is more than a mass. */
  find(mass: number, n: number): number {
    const rank = mass < this.#sums[EXACT]
      ? this.#findExact(mass)
      : Math.floor(this.#findEdge(mass) + 0.5);
    return rank <= n ? rank : n; // Rounding may lead beyond all ranks: NaN.
  }

  #findExact(mass: number): number {
    let [low, high] = [1, EXACT];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#sums[middle] > mass) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Up to where the area is that is left of a mass: the inverse of the total. */
  #findEdge(mass: number): number {
    const start = EXACT + 0.5;
    const power = 1 - this.#alpha;
    const area = (mass - this.#sums[EXACT]) / start ** power;
    const logRatio = power === 0 ? area : Math.log1p(power * area) / power;
    return start * Math.exp(logRatio);
  }
}
