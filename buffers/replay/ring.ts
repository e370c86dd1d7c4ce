import type { Sampler } from "../samplers/sampler.ts";

/** Place of a ring among the slots, and steps that it keeps back. */
export interface RingOptions {
  /** Its first slot. */
  readonly base: number;
  /** Rows of a step. */
  readonly numEnvs: number;
  /** Steps that fit in. */
  readonly steps: number;
  /** Steps that are only the history of others once the oldest are gone. */
  readonly margin: number;
  /** Newest steps that are not read yet, as a writer may be about to go on. */
  readonly lag: number;
}

/**
 * Slots of one writer: step `s` lies in the `numEnvs` slots from
 * `base + (s % steps) * numEnvs` on. Knows which steps are held and which of
 * them may be drawn.
 */
export class Ring implements RingOptions {
  readonly base: number;
  readonly numEnvs: number;
  readonly steps: number;
  readonly margin: number;
  readonly lag: number;
  /** Slots in all. */
  readonly capacity: number;
  /** The slot after its last. */
  readonly end: number;
  /** Steps that were written so far. */
  total = 0;
  /** The first step that may be drawn. */
  firstStep = 0;
  /** The step after the last that may be read. */
  endStep = 0;
  /** The slot of the first row that may be drawn, counted from `base`. */
  first = 0;
  /** Rows that may be drawn. */
  length = 0;
  /** The first slot of the newest step that may be read; -1 for none. */
  newest = -1;

  constructor({ base, numEnvs, steps, margin, lag }: RingOptions) {
    this.base = base;
    this.numEnvs = numEnvs;
    this.steps = steps;
    this.margin = margin;
    this.lag = lag;
    this.capacity = steps * numEnvs;
    this.end = base + this.capacity;
  }

  /** Steps that it holds. */
  get held(): number {
    return Math.min(this.total, this.steps);
  }

  /** Returns the first slot of a step. */
  slotOf(step: number): number {
    return this.base + (step % this.steps) * this.numEnvs;
  }

  /** Returns the first step that may be drawn once there are so many. */
  firstDrawable(total: number): number {
    return total > this.steps ? total - this.steps + this.margin : 0;
  }

  /**
   * Sets how many steps were written so far, and, where the writer has already
   * given up more of the oldest, the first that is left.
   */
  setTotal(total: number, firstStep = 0): void {
    this.total = total;
    this.endStep = Math.max(0, total - this.lag);
    this.firstStep = Math.max(firstStep, this.firstDrawable(total));
    this.length = Math.max(0, this.endStep - this.firstStep) * this.numEnvs;
    this.first = (this.firstStep % this.steps) * this.numEnvs;
    this.newest = this.endStep > 0 ? this.slotOf(this.endStep - 1) : -1;
  }

  /** Tells whether a slot belongs to the newest step that may be read. */
  isNewest(slot: number): boolean {
    return slot >= this.newest && slot < this.newest + this.numEnvs;
  }

  /** Returns the slot of a row that may be drawn; row 0 is the oldest. */
  slotAt(row: number): number {
    return this.base + (this.first + row) % this.capacity;
  }

  /** Returns the row of a slot, from 0 for the oldest that may be drawn. */
  rowOf(slot: number): number {
    const row = slot - this.base - this.first;
    return row < 0 ? row + this.capacity : row;
  }

  /** Tells whether a slot may be drawn. */
  holds(slot: number): boolean {
    return this.rowOf(slot) < this.length;
  }

  /** Returns the slot of the same environment's next step. */
  after(slot: number): number {
    const next = slot + this.numEnvs;
    return next < this.end ? next : next - this.capacity;
  }

  /** Returns the slot of the same environment's step before. */
  before(slot: number): number {
    const previous = slot - this.numEnvs;
    return previous >= this.base ? previous : previous + this.capacity;
  }

  /** Returns the slot of the same environment so many steps later, or earlier. */
  move(slot: number, steps: number): number {
    const to = (slot - this.base + steps * this.numEnvs) % this.capacity;
    return this.base + (to < 0 ? to + this.capacity : to);
  }

  /** Tells whether no step before a slot's was ever written. */
  isVeryFirst(slot: number): boolean {
    return this.total <= this.steps && slot < this.base + this.numEnvs;
  }

  /** Returns a number that is larger the later a slot's step was written. */
  stepAge(slot: number): number {
    const from = slot - this.slotOf(this.total);
    const row = from < 0 ? from + this.capacity : from;
    return Math.floor(row / this.numEnvs);
  }
}

/** Tells a sampler which slots of some rings may be drawn. */
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

  /** Tells how many rows there is room for. */
  resize(rows: number): void {
    this.#sampler.resize?.(rows);
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
