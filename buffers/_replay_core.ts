import type { BoundBatch } from "./_bound_batch.ts";
import { Gatherer } from "./_gatherer.ts";
import { makeLayout } from "./_replay_layout.ts";
import { makeParts, type ReplayParts } from "./_replay_parts.ts";
import { makeReplaySchema } from "./_replay_schema.ts";
import { ReservoirWriter } from "./_reservoir.ts";
import { SamplerFeed } from "./_sampler_feed.ts";
import { SharedReads } from "./_shared_reads.ts";
import type { ReplayBufferOptions } from "./replay_buffer_options.ts";
import type { Random, RowRange, Sampler } from "./sampler.ts";
import { UniformSampler } from "./uniform_sampler.ts";

/** How often rows are read that writers overwrite each time. */
const MAX_ATTEMPTS = 1000;

/** The rows of a replay buffer: how they come in and how they are drawn. */
export class ReplayCore {
  readonly capacity: number;
  readonly numEnvs: number;
  readonly parts: ReplayParts;
  readonly sampler: Sampler;
  readonly feed: SamplerFeed;
  readonly reservoir: ReservoirWriter | undefined;
  /** Rows that there is room for by now. */
  allocated: number;
  /** What may be drawn of all rings. */
  readonly #rows: RowRange;
  readonly #gatherer: Gatherer;
  /** Where others write meanwhile. */
  readonly #reads: SharedReads | undefined;

  constructor(options: ReplayBufferOptions) {
    const schema = makeReplaySchema(options);
    const layout = makeLayout(options, schema);
    const { capacity, numEnvs, initialCapacity: allocated } = layout;
    const { storage } = options;
    const reserve = (rows: number) => this.reserve(rows);
    this.capacity = capacity;
    this.numEnvs = numEnvs;
    this.allocated = allocated;
    this.parts = makeParts(schema, { layout, storage, allocated, reserve });
    this.sampler = options.sampler ?? new UniformSampler();
    this.feed = new SamplerFeed(this.sampler, this.parts.rings);
    this.reservoir = this.#makeReservoir(options);
    const { rings, rows, episodes, control } = this.parts;
    this.#rows = rings.length === 1 ? rings[0] : allRings(rings);
    this.#gatherer = new Gatherer(schema, rows, episodes);
    if (control !== undefined) this.#reads = new SharedReads(this.parts);
    this.sampler.resize?.(allocated);
  }

  #makeReservoir(
    { eviction, random }: ReplayBufferOptions,
  ): ReservoirWriter | undefined {
    if (eviction !== "reservoir" || random === undefined) return undefined;
    const { sampler, feed } = this;
    return new ReservoirWriter(this.parts.writer, { random, sampler, feed });
  }

  /** Rows that may be drawn. */
  get length(): number {
    return this.#rows.length;
  }

  /** Bytes that rows, and what is kept at their side, take up in memory. */
  get byteLength(): number {
    const { rows, sides, control } = this.parts;
    const arrays = [...rows.map(({ column }) => column), ...sides];
    const first = control?.byteLength ?? 0;
    return arrays.reduce((sum, { byteLength }) => sum + byteLength, first);
  }

  /** Brings rings that others write to up to date. */
  refresh(): void {
    if (this.#reads === undefined) return;
    this.#reads.begin();
    this.feed.tell();
  }

  /** Makes room for rows, by doubling. */
  reserve(rows: number): void {
    if (rows <= this.allocated) return;
    const twice = Math.min(this.capacity, 2 * this.allocated);
    this.allocated = Math.max(rows, twice);
    for (const leaf of this.parts.rows) leaf.resize(this.allocated);
    this.sampler.resize?.(this.allocated);
  }

  /** Writes checked rows, one array for each added leaf. */
  write(values: readonly ArrayLike<number>[], rows: number): void {
    const { writer } = this.parts;
    if (this.reservoir !== undefined) this.reservoir.write(values, rows);
    else writer.write(values, rows / writer.ring.numEnvs);
    if (this.#reads === undefined) this.feed.tell();
  }

  /** Draws rows into a batch. */
  draw(bound: BoundBatch, random: Random): void {
    const { drawn } = bound, { rings } = this.parts;
    const parts = rings.length > 1 ? rings : undefined;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      this.refresh();
      if (this.length === 0) {
        throw new RangeError(
          `Cannot sample ${drawn.slots.length} rows as the buffer holds 0`,
        );
      }
      this.sampler.draw(drawn, { rows: this.#rows, parts, random });
      if (this.#read(bound)) return;
    }
    throw overtaken(drawn.slots.length);
  }

  /** Reads rows into a batch; they are held, or it throws. */
  gather(bound: BoundBatch, wanted: ArrayLike<number>): void {
    const { slots } = bound.drawn;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      this.refresh();
      for (let i = 0; i < wanted.length; i++) this.#checkHeld(wanted[i]);
      slots.set(wanted);
      if (this.#read(bound)) return;
    }
    throw overtaken(slots.length);
  }

  /** Fills a batch from its slots; whether none was overwritten meanwhile. */
  #read(bound: BoundBatch): boolean {
    this.#gatherer.gather(bound);
    return this.#reads?.isIntact(bound.drawn.slots) ?? true;
  }

  #checkHeld(slot: number): void {
    const { rings } = this.parts;
    const ring = rings[Math.floor(slot / rings[0].rows)];
    if (Number.isInteger(slot) && ring?.holds(slot)) return;
    throw new RangeError(
      `Cannot gather slot ${slot}: expected one of the ${this.length} rows that may be drawn`,
    );
  }

  /** Slots of all rows that may be drawn, of each ring the oldest first. */
  slots(): Int32Array {
    this.refresh();
    const slots = new Int32Array(this.length);
    let at = 0;
    for (const { base, first, length, rows } of this.parts.rings) {
      for (let i = 0; i < length; i++) slots[at++] = base + (first + i) % rows;
    }
    return slots;
  }

  /** Removes all rows. */
  clear(): void {
    this.refresh();
    const { rings, sides, links } = this.parts;
    this.feed.clear();
    rings.forEach((ring, i) => {
      ring.setTotal(0);
      sides[i]?.clear();
      links[i]?.reset(ring, sides[i]);
    });
    if (this.reservoir !== undefined) this.reservoir.seen = 0;
  }
}

function overtaken(size: number): RangeError {
  return new RangeError(
    `Cannot read ${size} rows while writers overwrite them all: expected a larger capacity`,
  );
}

/** The rows of several rings, counted together. */
function allRings(rings: readonly RowRange[]): RowRange {
  return {
    first: 0,
    get length(): number {
      return rings.reduce((sum, { length }) => sum + length, 0);
    },
    capacity: rings.reduce((sum, { capacity }) => sum + capacity, 0),
  };
}
