import type { Flags } from "./episodes.ts";
import type { LeafRows } from "./columns.ts";
import type { Ring, SamplerFeed } from "./ring.ts";
import type { SharedRing } from "./shared_ring.ts";
import type { SideValues } from "./final_values.ts";
import type { Random, Sampler } from "../samplers/sampler.ts";

/** What a {@linkcode RowWriter} writes to. */
interface RowTarget {
  readonly ring: Ring;
  /** Stored leaves. */
  readonly rows: readonly LeafRows[];
  /** The added leaf that each stored one comes from. */
  readonly origins: readonly number[];
  readonly flags: Flags | undefined;
  readonly side: SideValues | undefined;
  readonly link: SharedRing | undefined;
  /** Makes room for so many rows. */
  readonly reserve: (rows: number) => void;
}

/** Writes steps to a ring, the newest over the oldest. */
export class RowWriter {
  readonly ring: Ring;
  readonly #target: RowTarget;
  readonly #place = { from: 0, count: 0 };

  constructor(target: RowTarget) {
    this.ring = target.ring;
    this.#target = target;
  }

  /** Writes so many steps of checked values, one array for each added leaf. */
  write(values: readonly ArrayLike<number>[], steps: number): void {
    const { ring } = this, { link, side } = this.#target;
    link?.refresh(ring, side);
    for (let done = 0; done < steps;) {
      const room = ring.steps - ring.total % ring.steps;
      const count = Math.min(steps - done, room);
      this.#writeSteps(values, done, count);
      done += count;
    }
  }

  /** Writes steps that lie side by side; their values begin at step `from`. */
  #writeSteps(
    values: readonly ArrayLike<number>[],
    from: number,
    steps: number,
  ): void {
    const { ring } = this, { side, link, reserve } = this.#target;
    const { numEnvs } = ring;
    const slot = ring.slotOf(ring.total), rows = steps * numEnvs;
    reserve(slot - ring.base + rows);
    link?.retire(ring.firstDrawable(ring.total + steps));
    side?.evict(slot, rows);
    this.writeRows(values, slot, { from: from * numEnvs, count: rows });
    if (side !== undefined) this.#keepNext(side, values, from, steps);
    ring.setTotal(ring.total + steps);
    link?.publish(ring, side);
  }

  /** Writes rows of values from `from` on to slots from `slot` on. */
  writeRows(
    values: readonly ArrayLike<number>[],
    slot: number,
    { from, count }: { from: number; count: number },
  ): void {
    const { rows, origins } = this.#target;
    this.#place.from = from;
    this.#place.count = count;
    for (let i = 0; i < rows.length; i++) {
      rows[i].write(slot, values[origins[i]], this.#place);
    }
  }

  /** Keeps what came after steps that ended an episode, and after the newest. */
  #keepNext(
    side: SideValues,
    values: readonly ArrayLike<number>[],
    from: number,
    steps: number,
  ): void {
    const { ring } = this, { numEnvs } = ring;
    const slot = ring.slotOf(ring.total);
    const [first, rows] = [from * numEnvs, steps * numEnvs];
    for (let row = 0; row < rows; row++) {
      if (!this.#ended(slot + row)) continue;
      this.#makeRoom(side);
      side.push(slot + row, values, first + row);
    }
    side.setNewest(values, first + rows - numEnvs);
  }

  #ended(slot: number): boolean {
    const { terminated, truncated } = this.#target.flags!;
    return (terminated.units[slot] | truncated.units[slot]) !== 0;
  }

  #makeRoom(side: SideValues): void {
    if (!side.full) return;
    const { link } = this.#target;
    link?.changeVersion();
    side.grow();
    link?.publish(this.ring, side);
    link?.changeVersion();
  }

  /** Ends the episodes of all rows of the newest step, as cut off. */
  truncate(): void {
    const { ring } = this, { flags, side, link } = this.#target;
    link?.refresh(ring, side);
    if (flags === undefined || ring.total === 0) return;
    const newest = ring.slotOf(ring.total - 1);
    for (let env = 0; env < ring.numEnvs; env++) {
      const slot = newest + env;
      if (this.#ended(slot)) continue;
      flags.truncated.units[slot] = 1;
      if (side === undefined) continue;
      this.#makeRoom(side);
      side.pushNewest(slot, env);
    }
    link?.publish(ring, side);
  }
}

/** Whole numbers that a stream draws one of. */
const MAX_INTEGERS = 2 ** 32;

/**
 * Writes rows so that each of all that ever came is as likely to be held:
 * algorithm R of Vitter 1985.
 */
export class ReservoirWriter {
  /** Rows that ever came. */
  seen = 0;
  readonly #writer: RowWriter;
  readonly #random: Random;
  readonly #sampler: Sampler;
  readonly #feed: SamplerFeed;

  constructor(
    writer: RowWriter,
    { random, sampler, feed }: {
      random: Random;
      sampler: Sampler;
      feed: SamplerFeed;
    },
  ) {
    this.#writer = writer;
    this.#random = random;
    this.#sampler = sampler;
    this.#feed = feed;
  }

  /** Writes so many rows of checked values. */
  write(values: readonly ArrayLike<number>[], rows: number): void {
    const { ring } = this.#writer;
    const fits = Math.min(rows, ring.rows - ring.total);
    this.#writer.write(values, fits);
    this.#feed.tell();
    this.seen += fits;
    for (let from = fits; from < rows; from++) {
      this.seen++;
      const slot = this.#draw();
      if (slot >= ring.rows) continue;
      this.#writer.writeRows(values, slot, { from, count: 1 });
      this.#sampler.removed(slot, 1);
      this.#sampler.added(slot, 1);
    }
  }

  #draw(): number {
    if (this.seen <= MAX_INTEGERS) return this.#random.integer(this.seen);
    return Math.floor(this.#random.uniform() * this.seen);
  }
}
