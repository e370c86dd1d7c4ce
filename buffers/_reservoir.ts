import type { RowWriter } from "./_row_writer.ts";
import type { SamplerFeed } from "./_sampler_feed.ts";
import type { Random, Sampler } from "./sampler.ts";

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
