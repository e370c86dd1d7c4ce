/** Sizes of a {@linkcode Ring}, and steps that it keeps back. */
export interface RingOptions {
  /** Rows of a step. */
  readonly numEnvs: number;
  /** Steps that fit in. */
  readonly steps: number;
  /** Steps that are only the history of others once the oldest are gone. */
  readonly margin: number;
}

/**
 * Slots of a buffer's rows: step `s` lies in the `numEnvs` slots from
 * `(s % steps) * numEnvs` on. Knows which steps are held and which of them may
 * be drawn.
 */
export class Ring implements RingOptions {
  readonly numEnvs: number;
  readonly steps: number;
  readonly margin: number;
  /** Slots in all. */
  readonly capacity: number;
  /** Steps that were written so far. */
  total = 0;
  /** The first step that may be drawn. */
  firstStep = 0;
  /** The slot of the first row that may be drawn. */
  first = 0;
  /** Rows that may be drawn. */
  length = 0;
  /** The first slot of the latest step; -1 for none. */
  newest = -1;

  constructor({ numEnvs, steps, margin }: RingOptions) {
    this.numEnvs = numEnvs;
    this.steps = steps;
    this.margin = margin;
    this.capacity = steps * numEnvs;
  }

  /** Steps that it holds. */
  get held(): number {
    return Math.min(this.total, this.steps);
  }

  /** Returns the first slot of a step. */
  slotOf(step: number): number {
    return (step % this.steps) * this.numEnvs;
  }

  /** Sets how many steps were written so far. */
  setTotal(total: number): void {
    this.total = total;
    this.firstStep = total > this.steps ? total - this.steps + this.margin : 0;
    this.length = (total - this.firstStep) * this.numEnvs;
    this.first = this.slotOf(this.firstStep);
    this.newest = total > 0 ? this.slotOf(total - 1) : -1;
  }

  /** True where a slot belongs to the latest step. */
  isNewest(slot: number): boolean {
    return slot >= this.newest && slot < this.newest + this.numEnvs;
  }

  /** Returns the slot of a row that may be drawn; row 0 is the oldest. */
  slotAt(row: number): number {
    return (this.first + row) % this.capacity;
  }

  /** Returns the row of a slot, from 0 for the oldest that may be drawn. */
  rowOf(slot: number): number {
    const row = slot - this.first;
    return row < 0 ? row + this.capacity : row;
  }

  /** True where a slot may be drawn. */
  holds(slot: number): boolean {
    return slot >= 0 && slot < this.capacity && this.rowOf(slot) < this.length;
  }

  /** Returns the slot of the same environment's next step. */
  after(slot: number): number {
    const next = slot + this.numEnvs;
    return next < this.capacity ? next : next - this.capacity;
  }

  /** Returns the slot of the same environment's step before. */
  before(slot: number): number {
    const previous = slot - this.numEnvs;
    return previous >= 0 ? previous : previous + this.capacity;
  }

  /** Returns the slot of the same environment so many steps later, or earlier. */
  move(slot: number, steps: number): number {
    const to = (slot + steps * this.numEnvs) % this.capacity;
    return to < 0 ? to + this.capacity : to;
  }

  /** True where no step before a slot's was ever written. */
  isVeryFirst(slot: number): boolean {
    return this.total <= this.steps && slot < this.numEnvs;
  }

  /** Returns a number that is larger the later a slot's step was written. */
  stepAge(slot: number): number {
    const from = slot - this.slotOf(this.total);
    const row = from < 0 ? from + this.capacity : from;
    return Math.floor(row / this.numEnvs);
  }
}
