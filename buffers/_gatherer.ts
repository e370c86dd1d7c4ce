import type { BoundBatch } from "./_bound_batch.ts";
import { type Episodes, SIDE } from "./_episodes.ts";
import { findFrames, shiftFrames } from "./_frame_stack.ts";
import type { LeafRows } from "./_leaf_rows.ts";
import { sumRewards } from "./_n_step.ts";
import type { DrawnLeaf, ReplaySchema, Source } from "./_replay_schema.ts";
import { fetchBytes, RowFetcher } from "./_row_fetcher.ts";
import {
  type Aside,
  sideUnits,
  Stacker,
  type Stacks,
  type Target,
} from "./_stacker.ts";

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
