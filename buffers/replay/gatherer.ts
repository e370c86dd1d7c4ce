import { type Units, unitsOf } from "../copy.ts";
import {
  ARRAYS,
  checkKind,
  checkWhole,
  collect,
  type FieldArray,
  type FieldData,
  type FieldValues,
  type Leaf,
  nest,
} from "../fields.ts";
import type { Drawn } from "../samplers/sampler.ts";
import type { Batch } from "./options.ts";
import type { DrawnLeaf, ReplaySchema, Source } from "./replay_schema.ts";
import {
  type Episodes,
  type FieldRows,
  FINAL,
  type FinalValues,
  type StoredRows,
} from "./rows.ts";
import { Stacker, type Stacks, type Target } from "./stacker.ts";

/**
 * Fills the arrays of a batch from the slots that were drawn, one array after
 * the other: the rows of one field lie close together.
 */
export class Gatherer {
  readonly #schema: ReplaySchema;
  readonly #rows: readonly FieldRows[];
  readonly #episodes: Episodes | undefined;
  readonly #finals: FinalValues | undefined;
  readonly #plans: readonly DrawnLeaf[];
  readonly #stackPlans: ReturnType<typeof stackPlans>;
  /** Fetch the drawn rows that are copied, and those after them. */
  readonly #drawnFetcher: RowFetcher;
  readonly #nextFetcher: RowFetcher;
  /** Batches that were checked. */
  readonly #checked = new WeakMap<Batch, CheckedBatch>();

  constructor(
    schema: ReplaySchema,
    { rows, episodes, finals }: StoredRows,
  ) {
    this.#schema = schema;
    this.#rows = rows;
    this.#episodes = episodes;
    this.#finals = finals;
    this.#plans = schema.drawnLeaves;
    this.#stackPlans = stackPlans(this.#plans, rows);
    this.#drawnFetcher = new RowFetcher(this.#copied("row"));
    this.#nextFetcher = new RowFetcher(this.#copied("next"));
  }

  /** Lists the arrays whose rows are copied as they are. */
  #copied(source: Source): FieldRows[] {
    return this.#plans.filter((plan) =>
      plan.source === source && plan.frames === 1
    ).map(({ stored }) => this.#rows[stored]);
  }

  /** Allocates the arrays of a batch of so many rows. */
  batch(size: number): Batch {
    checkWhole(size, `make a batch of ${size} rows`);
    const fields = nest(
      this.#schema.drawn,
      (leaf) => new ARRAYS[leaf.dtype](size * leaf.size),
    );
    const weights = new Float32Array(size).fill(1);
    return { ...fields, slots: new Int32Array(size), weights };
  }

  /** Checks that a batch's arrays fit, unless they were checked before. */
  check(batch: Batch): CheckedBatch {
    let checked = this.#checked.get(batch);
    if (checked === undefined || !checked.isCurrent) {
      checked = new CheckedBatch(batch, this.#schema);
      this.#checked.set(batch, checked);
    }
    return checked;
  }

  /** Fills all arrays; the slots are held. */
  gather(batch: CheckedBatch): void {
    if (this.#episodes === undefined) {
      this.#drawnFetcher.fetch(batch.drawn.slots);
    } else this.#lookAlong(this.#episodes, batch);
    for (let i = 0; i < this.#plans.length; i++) {
      if (this.#plans[i].frames > 1) continue;
      this.#fill(this.#plans[i], batch.targets[i], batch);
    }
    for (const { stacker, members } of this.#stackPlans) {
      stacker.gather(members.map((index) => this.#stacks(index, batch)));
    }
  }

  /** Returns the stacks of one array. */
  #stacks(index: number, batch: CheckedBatch): Stacks {
    const { source, final } = this.#plans[index];
    const target = batch.targets[index];
    if (source === "between") return { rows: batch.betweenStacks, target };
    if (source !== "next") return { rows: batch.stacks, target };
    const finals = this.#finals!.units(final);
    return { rows: batch.nextStacks, target, finals };
  }

  /** Finds the rows that the drawn ones are made of. */
  #lookAlong(episodes: Episodes, batch: CheckedBatch): void {
    const { finalLeaves, maxFrames, episodes: { nStep } = {} } = this.#schema;
    const { drawn: { slots }, last, next } = batch;
    fetchBytes(episodes.terminated, episodes.truncated, slots);
    this.#drawnFetcher.fetch(slots);
    if (nStep !== undefined) {
      const rewards = this.#rows[nStep.reward].data!;
      const { steps, gamma } = nStep;
      sumRewards(episodes, slots, { steps, gamma, rewards }, batch);
    }
    if (finalLeaves.length > 0) {
      episodes.findNext(last, next);
      this.#nextFetcher.fetch(next);
    }
    if (maxFrames > 1) this.#lookBack(episodes, batch);
  }

  /** Finds the frames of stacks. */
  #lookBack(episodes: Episodes, batch: CheckedBatch): void {
    const { finalLeaves } = this.#schema, { nStep } = this.#schema.episodes!;
    const { drawn: { slots }, last, next, stacks, nextStacks } = batch;
    const hasNext = finalLeaves.length > 0;
    if (hasNext) {
      episodes.findFrames(last, stacks);
      shiftFrames(stacks, next, nextStacks);
    }
    if (!hasNext || nStep !== undefined) {
      episodes.findFrames(slots, stacks);
    }
    if (nStep?.hasBetween) {
      episodes.findFrames(batch.between, batch.betweenStacks);
    }
  }

  /** Fills one array. */
  #fill(plan: DrawnLeaf, target: Target, batch: CheckedBatch): void {
    const { source, stored, final } = plan, { array, units } = target;
    const rows = this.#rows[stored];
    const { drawn: { slots }, last, next } = batch;
    switch (source) {
      case "row":
        return rows.gather(slots, array, units);
      case "last":
        return rows.gather(last, array, units);
      case "between":
        return rows.gather(batch.between, array, units);
      case "return":
        return array.set(batch.sums);
      case "discount":
        return array.set(batch.discounts);
      case "betweenDiscount":
        return array.set(batch.betweenDiscounts);
      case "next": {
        rows.gather(next, array, units);
        fillFinals(next, units, rows.unitSize, this.#finals!.units(final));
      }
    }
  }
}

/**
 * Groups the arrays whose stacks share frames, row by row: the indices of their
 * plans, and what stacks them.
 */
function stackPlans(
  plans: readonly DrawnLeaf[],
  rows: readonly FieldRows[],
) {
  const indices = plans.map((_, i) => i).filter((i) => plans[i].frames > 1);
  const groups = Map.groupBy(indices, (i) => {
    const { stored, frames, source } = plans[i];
    return `${stored} ${frames} ${source === "between"}`;
  });
  return [...groups.values()].map((members) => {
    const { stored, frames } = plans[members[0]];
    return { stacker: new Stacker(rows[stored], frames), members };
  });
}

function fillFinals(
  next: Int32Array,
  target: Units,
  size: number,
  finals: Units,
): void {
  for (let i = 0; i < next.length; i++) {
    if (next[i] >= 0) continue;
    const from = (FINAL - next[i]) * size, to = i * size;
    for (let j = 0; j < size; j++) target[to + j] = finals[from + j];
  }
}

/** Returns of several steps, for each row of a batch. */
interface Returns {
  /** The last row of each return. */
  readonly last: Int32Array;
  /** `sum_i gamma^i r_i` over the `k` rows of each return. */
  readonly sums: Float64Array;
  /** `gamma^k` of each return. */
  readonly discounts: Float64Array;
  /**
   * Rows `[return, steps - 1]` after the first of each return, the last one
   * again past its end; empty where nobody asks for them.
   */
  readonly between: Int32Array;
  /** `gamma^i` of those rows, and 0 past the end. */
  readonly betweenDiscounts: Float64Array;
}

/**
 * Sums the rewards of up to `steps` steps from each row on, up to the end of
 * the episode or the latest row.
 */
function sumRewards(
  episodes: Episodes,
  slots: Int32Array,
  { steps, gamma, rewards }: {
    readonly steps: number;
    readonly gamma: number;
    /** Rewards of all rows. */
    readonly rewards: FieldArray;
  },
  { last, sums, discounts, between, betweenDiscounts }: Returns,
): void {
  const later = between.length / slots.length;
  const { terminated, truncated, ring } = episodes;
  for (let i = 0; i < slots.length; i++) {
    let slot = slots[i], sum = rewards[slot], discount = gamma;
    let at = i * later;
    for (let step = 1; step < steps; step++) {
      const ended = (terminated[slot] | truncated[slot]) !== 0;
      if (ended || ring.isNewest(slot)) break;
      slot = ring.after(slot);
      sum += discount * rewards[slot];
      if (later > 0) {
        between[at] = slot;
        betweenDiscounts[at++] = discount;
      }
      discount *= gamma;
    }
    for (const end = (i + 1) * later; at < end; at++) {
      between[at] = slot;
      betweenDiscounts[at] = 0;
    }
    last[i] = slot;
    sums[i] = sum;
    discounts[i] = discount;
  }
}

/** Shifts stacks by a frame, so that they end with the next one. */
function shiftFrames(
  stacks: Int32Array,
  next: Int32Array,
  shifted: Int32Array,
): void {
  const frames = stacks.length / next.length;
  for (let i = 0; i < next.length; i++) {
    const start = i * frames, last = start + frames - 1;
    for (let at = start; at < last; at++) shifted[at] = stacks[at + 1];
    shifted[last] = next[i];
  }
}

/** A caller's batch that was checked, and room to draw into it. */
export class CheckedBatch implements Returns {
  readonly batch: Batch;
  /** The array of each drawn leaf. */
  readonly targets: readonly Target[];
  readonly drawn: Drawn;
  /** The last row of each return; the drawn rows themselves for single steps. */
  readonly last: Int32Array;
  /** The row after it, or the one of its final values. */
  readonly next: Int32Array;
  /** Rows of each stack, `[row, frame]`, and of the one after it. */
  readonly stacks: Int32Array;
  readonly nextStacks: Int32Array;
  readonly sums: Float64Array;
  readonly discounts: Float64Array;
  /** Rows `[row, steps - 1]` of each return after its first, if they are drawn. */
  readonly between: Int32Array;
  readonly betweenDiscounts: Float64Array;
  /** Rows of the stacks that end with those. */
  readonly betweenStacks: Int32Array;
  readonly #leaves: readonly Leaf[];

  constructor(batch: Batch, { drawn, episodes, maxFrames }: ReplaySchema) {
    const { slots, weights, ...fields } = batch;
    checkDrawn(slots, weights);
    const size = slots.length;
    const arrays: ArrayLike<number>[] = [];
    const check = { action: "sample into", rows: size };
    collect(drawn.root, fields as FieldValues, check, arrays);
    this.batch = batch;
    this.drawn = { slots, weights };
    this.targets = drawn.leaves.map((leaf, i) => targetOf(leaf, arrays[i]));
    this.#leaves = drawn.leaves;
    const { nStep } = episodes ?? {};
    this.last = nStep === undefined ? slots : new Int32Array(size);
    this.next = new Int32Array(size);
    this.stacks = new Int32Array(size * maxFrames);
    this.nextStacks = new Int32Array(size * maxFrames);
    this.sums = new Float64Array(size);
    this.discounts = new Float64Array(size);
    const later = nStep?.hasBetween ? size * (nStep.steps - 1) : 0;
    this.between = new Int32Array(later);
    this.betweenDiscounts = new Float64Array(later);
    this.betweenStacks = new Int32Array(later * maxFrames);
  }

  /** True while the batch has the arrays that were checked. */
  get isCurrent(): boolean {
    const { slots, weights } = this.drawn;
    if (this.batch.slots !== slots || this.batch.weights !== weights) {
      return false;
    }
    for (let i = 0; i < this.#leaves.length; i++) {
      let node: FieldData | undefined = this.batch;
      for (const key of this.#leaves[i].path) {
        node = (node as Record<string, FieldData> | undefined)?.[key];
      }
      if (node !== this.targets[i].array) return false;
    }
    return true;
  }
}

function checkDrawn(slots: unknown, weights: unknown): void {
  if (!(slots instanceof Int32Array) || !(weights instanceof Float32Array)) {
    throw new TypeError(
      "Cannot sample into arrays without slots and weights: expected an Int32Array and a Float32Array",
    );
  }
  if (slots.length === weights.length) return;
  throw new RangeError(
    `Cannot sample ${slots.length} slots and ${weights.length} weights: expected as many`,
  );
}

function targetOf(leaf: Leaf, array: unknown): Target {
  checkKind(leaf, array, ["sample", "into"]);
  return { array, units: unitsOf(array) };
}

/** Words of a cache line. */
const LINE_WORDS = 16;

/** Words of a row from which on a copy fetches well by itself. */
const LONG_WORDS = 512;

/** Takes what is read only to be fetched, so that reading is not left out. */
let sink = 0;

/**
 * Reads rows that are about to be copied. They lie anywhere, and what takes time
 * is to fetch them: the processor fetches many at once where it only reads, but
 * few where it copies each row in between. (Drawing 256 of a million rows takes
 * half as long.)
 */
class RowFetcher {
  /** Arrays whose rows are one line, or two: the ends of a row are in them. */
  readonly #short: readonly FieldRows[];
  readonly #long: readonly FieldRows[];

  /** Fetches from arrays of words in memory; others are left out. */
  constructor(arrays: readonly FieldRows[]) {
    const words = arrays.filter(({ units }) => units instanceof Int32Array);
    const isShort = (it: FieldRows) => it.unitSize <= LINE_WORDS + 1;
    this.#short = words.filter(isShort);
    this.#long = words.filter((it) => !isShort(it) && it.unitSize < LONG_WORDS);
  }

  /** Fetches some rows; for negative ones row 0. */
  fetch(rows: Int32Array): void {
    for (const { units, unitSize } of this.#long) {
      sink ^= readLines(units as Int32Array, unitSize, rows);
    }
    const short = this.#short;
    let i = 0;
    for (; i + 2 < short.length; i += 3) {
      sink ^= readThree(short[i], short[i + 1], short[i + 2], rows);
    }
    for (; i < short.length; i++) sink ^= readOne(short[i], rows);
  }
}

/** Fetches the same rows of two arrays of single bytes. */
function fetchBytes(
  a: Uint8Array,
  b: Uint8Array,
  rows: Int32Array,
): void {
  let sum = 0;
  for (let i = 0; i < rows.length; i++) sum ^= a[rows[i]] ^ b[rows[i]];
  sink ^= sum;
}

function readLines(
  words: Int32Array,
  size: number,
  rows: Int32Array,
): number {
  let sum = 0;
  for (let i = 0; i < rows.length; i++) {
    const from = Math.max(0, rows[i]) * size;
    const last = from + size - 1;
    for (let j = from; j < last; j += LINE_WORDS) sum ^= words[j];
    sum ^= words[last];
  }
  return sum;
}

function readOne(
  { units, unitSize }: FieldRows,
  rows: Int32Array,
): number {
  const words = units as Int32Array, end = unitSize - 1;
  let sum = 0;
  for (let i = 0; i < rows.length; i++) {
    const from = Math.max(0, rows[i]) * unitSize;
    sum ^= words[from] ^ words[from + end];
  }
  return sum;
}

function readThree(
  a: FieldRows,
  b: FieldRows,
  c: FieldRows,
  rows: Int32Array,
): number {
  const wordsA = a.units as Int32Array, sizeA = a.unitSize, endA = sizeA - 1;
  const wordsB = b.units as Int32Array, sizeB = b.unitSize, endB = sizeB - 1;
  const wordsC = c.units as Int32Array, sizeC = c.unitSize, endC = sizeC - 1;
  let sum = 0;
  for (let i = 0; i < rows.length; i++) {
    const row = Math.max(0, rows[i]);
    const fromA = row * sizeA, fromB = row * sizeB, fromC = row * sizeC;
    sum ^= wordsA[fromA] ^ wordsA[fromA + endA];
    sum ^= wordsB[fromB] ^ wordsB[fromB + endB];
    sum ^= wordsC[fromC] ^ wordsC[fromC + endC];
  }
  return sum;
}
