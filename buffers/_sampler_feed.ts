import type { Ring } from "./_ring.ts";
import type { Sampler } from "./sampler.ts";

/** Tells a sampler which slots may be drawn. */
export class SamplerFeed {
  readonly #sampler: Sampler;
  readonly #rings: readonly Ring[];
  /** Steps of each ring that it was told of. */
  readonly #told: { first: number; end: number }[];

  constructor(sampler: Sampler, rings: readonly Ring[]) {
    this.#sampler = sampler;
    this.#rings = rings;
    this.#told = rings.map(() => ({ first: 0, end: 0 }));
  }

  /** Tells what has changed. */
  tell(): void {
    for (let i = 0; i < this.#rings.length; i++) {
      const ring = this.#rings[i], told = this.#told[i];
      const { firstStep: first, endStep: end } = ring;
      if (end < told.end) this.#forget(i); // Another worker cleared it.
      this.#call("removed", ring, told.first, Math.min(first, told.end));
      this.#call("added", ring, Math.max(told.end, first), end);
      told.first = first;
      told.end = Math.max(first, end);
    }
  }

  /** Tells that nothing may be drawn any more. */
  clear(): void {
    for (let i = 0; i < this.#rings.length; i++) this.#forget(i);
  }

  #forget(index: number): void {
    const told = this.#told[index];
    this.#call("removed", this.#rings[index], told.first, told.end);
    told.first = told.end = 0;
  }

  /** Takes what may be drawn as told. */
  skip(): void {
    this.#rings.forEach(({ firstStep, endStep }, i) => {
      this.#told[i] = { first: firstStep, end: Math.max(firstStep, endStep) };
    });
  }

  /** Calls with steps, in one or two parts that do not wrap. */
  #call(
    what: "added" | "removed",
    ring: Ring,
    first: number,
    end: number,
  ): void {
    if (first >= end) return;
    const { steps, numEnvs } = ring;
    const count = Math.min(end - first, steps - first % steps);
    this.#sampler[what](ring.slotOf(first), count * numEnvs);
    if (count === end - first) return;
    this.#sampler[what](ring.base, (end - first - count) * numEnvs);
  }
}
