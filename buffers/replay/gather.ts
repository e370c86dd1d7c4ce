import { type Episodes, SIDE, sumRewards } from "./episodes.ts";
import {
  type Aside,
  findFrames,
  shiftFrames,
  sideUnits,
  Stacker,
  type Stacks,
  type Target,
} from "./stacks.ts";
import type { LeafRows } from "./columns.ts";
import type { DrawnLeaf, ReplaySchema, Source } from "./plan.ts";
import {
  allocateArray,
  collect,
  type FieldArray,
  type FieldData,
  type FieldValues,
  isArrayOf,
  type Leaf,
  nest,
} from "../fields.ts";
import { unitsOf } from "../copy.ts";
import type { Batch } from "./options.ts";
import type { Drawn } from "../samplers/sampler.ts";

/** What an array of a batch is made of. */
interface Plan extends DrawnLeaf {
  /** The rows that it comes from. */
  readonly rows: LeafRows | undefined;
}

/** Arrays of stacks of one field, of as many rows. */
interface StackPlan {
  readonly stacker: Stacker;
  /** Which of the plans they are. */
  readonly members: readonly number[];
}

/**
 * Fills the arrays of a batch from the slots that were drawn, one array after
 * the other: the rows of one field lie close together.
 */
export class Gatherer {
  readonly #schema: ReplaySchema;
  readonly #rows: readonly LeafRows[];
  readonly #episodes: Episodes | undefined;
  readonly #plans: readonly Plan[];
  readonly #stackPlans: readonly StackPlan[];
  /** Fetch what is copied from the drawn rows, and from those after them. */
  readonly #drawnFetcher: RowFetcher;
  readonly #nextFetcher: RowFetcher;

  constructor(
    schema: ReplaySchema,
    rows: readonly LeafRows[],
    episodes: Episodes | undefined,
  ) {
    this.#schema = schema;
    this.#rows = rows;
    this.#episodes = episodes;
    this.#plans = schema.drawnLeaves.map((drawn) => ({
      ...drawn,
      rows: rows[drawn.stored],
    }));
    this.#stackPlans = stackPlans(this.#plans);
    this.#drawnFetcher = new RowFetcher(this.#copied("row"));
    this.#nextFetcher = new RowFetcher(this.#copied("next"));
  }

  /** The arrays whose rows are copied as they are. */
  #copied(source: Source): LeafRows[] {
    return this.#plans.filter((plan) =>
      plan.source === source && plan.frames === 1
    ).map(({ rows }) => rows!);
  }

  /** Fills all arrays; the slots are held. */
  gather(bound: BoundBatch): void {
    if (this.#episodes === undefined) {
      this.#drawnFetcher.fetch(bound.drawn.slots);
    } else this.#lookAlong(this.#episodes, bound);
    for (let i = 0; i < this.#plans.length; i++) {
      if (this.#plans[i].frames > 1) continue;
      this.#fill(this.#plans[i], bound.targets[i], bound);
    }
    for (const { stacker, members } of this.#stackPlans) {
      stacker.gather(members.map((index) => this.#stacks(index, bound)));
    }
  }

  /** The stacks of one array. */
  #stacks(index: number, bound: BoundBatch): Stacks {
    const { source, side } = this.#plans[index];
    const target = bound.targets[index];
    if (source === "between") return { rows: bound.betweenStacks, target };
    if (source !== "next") return { rows: bound.stacks, target };
    const aside = { episodes: this.#episodes!, side, last: bound.last };
    return { rows: bound.nextStacks, target, aside };
  }

  /** Finds the rows that the drawn ones are made of. */
  #lookAlong(episodes: Episodes, bound: BoundBatch): void {
    const { sideLeaves, maxFrames, episodes: { nStep } = {} } = this.#schema;
    const { drawn: { slots }, last, next } = bound;
    fetchBytes(episodes.terminated, episodes.truncated, slots);
    this.#drawnFetcher.fetch(slots);
    if (nStep !== undefined) {
      const rewards = this.#rows[nStep.reward].data!;
      const { steps, gamma } = nStep;
      sumRewards(episodes, slots, { steps, gamma, rewards }, bound);
    }
    if (sideLeaves.length > 0) {
      episodes.findNext(last, next);
      this.#nextFetcher.fetch(next);
    }
    if (maxFrames > 1) this.#lookBack(episodes, bound);
  }

  /** Finds the frames of stacks. */
  #lookBack(episodes: Episodes, bound: BoundBatch): void {
    const { sideLeaves, maxFrames: frames } = this.#schema;
    const { zeroPadding, nStep } = this.#schema.episodes!;
    const { drawn: { slots }, last, next, stacks, nextStacks } = bound;
    const back = { frames, zeroPadding };
    const hasNext = sideLeaves.length > 0;
    if (hasNext) {
      findFrames(episodes, last, back, stacks);
      shiftFrames(stacks, next, nextStacks);
    }
    if (!hasNext || nStep !== undefined) {
      findFrames(episodes, slots, back, stacks);
    }
    if (nStep?.hasBetween) {
      findFrames(episodes, bound.between, back, bound.betweenStacks);
    }
  }

  #fill(plan: Plan, target: Target, bound: BoundBatch): void {
    const { drawn: { slots }, last, next } = bound;
    const { source, rows, side } = plan;
    if (source === "return") target.array.set(bound.sums);
    else if (source === "discount") target.array.set(bound.discounts);
    else if (source === "betweenDiscount") {
      target.array.set(bound.betweenDiscounts);
    } else if (source === "between") {
      rows!.gather(bound.between, target.array, target.units);
    } else if (source === "next") {
      const aside: Aside = { episodes: this.#episodes!, side, last };
      rows!.gather(next, target.array, target.units);
      fillFromSide(next, target, rows!.unitSize, aside);
    } else {
      const from = source === "last" ? last : slots;
      rows!.gather(from, target.array, target.units);
    }
  }
}

/** Puts those together whose stacks share frames, row by row. */
function stackPlans(plans: readonly Plan[]): StackPlan[] {
  const indices = plans.map((_, i) => i).filter((i) => plans[i].frames > 1);
  const groups = Map.groupBy(indices, (i) => {
    const { stored, frames, source } = plans[i];
    return `${stored} ${frames} ${source === "between"}`;
  });
  return [...groups.values()].map((members) => {
    const { rows, frames } = plans[members[0]];
    return { stacker: new Stacker(rows!, frames), members };
  });
}

function fillFromSide(
  next: Int32Array,
  { units: target }: Target,
  size: number,
  aside: Aside,
): void {
  for (let i = 0; i < next.length; i++) {
    if (next[i] >= 0) continue;
    const source = sideUnits(aside, i);
    const from = (SIDE - next[i]) * size, to = i * size;
    for (let j = 0; j < size; j++) target[to + j] = source[from + j];
  }
}

/** A caller's batch that was checked, and what drawing into it needs. */
export class BoundBatch {
  readonly batch: Batch;
  /** The array of each drawn leaf. */
  readonly targets: readonly Target[];
  readonly drawn: Drawn;
  /** The last row of each return; the drawn rows themselves for single steps. */
  readonly last: Int32Array;
  /** What comes after it: a row, or where it is at the side. */
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
  readonly #paths: readonly (readonly string[])[];

  constructor(batch: Batch, schema: ReplaySchema) {
    const { leaves } = schema.drawn;
    const { slots, weights, ...fields } = batch;
    checkDrawn(slots, weights);
    const size = slots.length;
    const arrays: ArrayLike<number>[] = [];
    const purpose = { action: "sample into", rows: size };
    collect(schema.drawn.root, fields as FieldValues, purpose, arrays);
    this.batch = batch;
    this.drawn = { slots, weights };
    this.targets = leaves.map((leaf, i) => targetOf(leaf, arrays[i]));
    this.#leaves = leaves;
    this.#paths = leaves.map(({ path }) => path);
    const { nStep } = schema.episodes ?? {};
    this.last = nStep === undefined ? slots : new Int32Array(size);
    this.next = new Int32Array(size);
    this.stacks = new Int32Array(size * schema.maxFrames);
    this.nextStacks = new Int32Array(size * schema.maxFrames);
    this.sums = new Float64Array(size);
    this.discounts = new Float64Array(size);
    const later = nStep?.hasBetween ? size * (nStep.steps - 1) : 0;
    this.between = new Int32Array(later);
    this.betweenDiscounts = new Float64Array(later);
    this.betweenStacks = new Int32Array(later * schema.maxFrames);
  }

  /** Whether the batch still has the arrays that were checked. */
  get isCurrent(): boolean {
    const { slots, weights } = this.drawn;
    if (this.batch.slots !== slots || this.batch.weights !== weights) {
      return false;
    }
    for (let i = 0; i < this.#leaves.length; i++) {
      let node: FieldData | undefined = this.batch;
      for (const key of this.#paths[i]) {
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

function targetOf({ name, dtype }: Leaf, array: unknown): Target {
  if (isArrayOf(dtype, array)) {
    return { array, units: unitsOf(array as FieldArray) };
  }
  throw new TypeError(
    `Cannot sample '${name}' into another kind of array: expected one of ${dtype}`,
  );
}

/** Makes batches, and remembers those that were checked. */
export class Batches {
  readonly #schema: ReplaySchema;
  readonly #bounds = new WeakMap<Batch, BoundBatch>();
  #last: BoundBatch | undefined;

  constructor(schema: ReplaySchema) {
    this.#schema = schema;
  }

  /** Arrays for so many rows. */
  make(size: number): Batch {
    if (!Number.isSafeInteger(size) || size < 1) {
      throw new RangeError(
        `Cannot make a batch of ${size} rows: expected a whole number above 0`,
      );
    }
    const fields = nest(
      this.#schema.drawn.root,
      (leaf) => allocateArray(leaf.dtype, size * leaf.size),
    ) as Omit<Batch, "slots" | "weights">;
    const weights = new Float32Array(size).fill(1);
    return { ...fields, slots: new Int32Array(size), weights };
  }

  /** What drawing into a batch needs; throws unless its arrays fit. */
  bind(batch: Batch): BoundBatch {
    const last = this.#last;
    if (last?.batch === batch && last.isCurrent) return last;
    let bound = this.#bounds.get(batch);
    if (bound === undefined || !bound.isCurrent) {
      bound = new BoundBatch(batch, this.#schema);
      this.#bounds.set(batch, bound);
    }
    return this.#last = bound;
  }
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
 * few where it copies each row in between.
 */
class RowFetcher {
  /** Whose rows are one line, or two: the ends of a row are in them. */
  readonly #short: readonly LeafRows[];
  readonly #long: readonly LeafRows[];

  /** Fetches from arrays of words in memory; others are left out. */
  constructor(arrays: readonly LeafRows[]) {
    const words = arrays.filter(({ units }) => units instanceof Int32Array);
    const isShort = (it: LeafRows) => it.unitSize <= LINE_WORDS + 1;
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
  { units, unitSize }: LeafRows,
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
  a: LeafRows,
  b: LeafRows,
  c: LeafRows,
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
