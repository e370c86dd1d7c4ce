import { allocateArray } from "./_arrays.ts";
import { BoundBatch } from "./_bound_batch.ts";
import { closest } from "./_closest.ts";
import type { Episodes } from "./_episodes.ts";
import { EpisodeSpan } from "./_episode_span.ts";
import { Gatherer } from "./_gatherer.ts";
import { type GoalLeaves, goalLeaves, goalSchema } from "./_goal_schema.ts";
import { partsOf } from "./_parts_of.ts";
import type { ReplayParts } from "./_replay_parts.ts";
import type { ReplaySchema } from "./_replay_schema.ts";
import type { Ring } from "./_ring.ts";
import type { Batch } from "./batch.ts";
import type { FieldArray } from "./field.ts";
import type {
  HindsightOptions,
  HindsightStrategy,
} from "./hindsight_options.ts";
import type { ReplayBuffer } from "./replay_buffer.ts";
import type { Random } from "./sampler.ts";

const STRATEGIES: readonly HindsightStrategy[] = [
  "future",
  "final",
  "episode",
  "random",
];

/**
 * Gives drawn rows goals that were reached after all: what an episode achieved
 * is taken for what it was to achieve, and the reward is computed anew. Nothing
 * is stored twice, and goals come from any row that a buffer holds, of
 * unfinished episodes, too.
 *
 * Source: Andrychowicz et al., "Hindsight Experience Replay", 2017.
 *
 * @example
 * ```ts
 * import { Hindsight, ReplayBuffer } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * const goal = { shape: [1], dtype: "float32" } as const;
 * const buffer = new ReplayBuffer({
 *   capacity: 100,
 *   fields: {
 *     achievedGoal: goal,
 *     desiredGoal: goal,
 *     reward: { shape: [], dtype: "float32" },
 *     terminated: { shape: [], dtype: "uint8" },
 *     truncated: { shape: [], dtype: "uint8" },
 *   },
 *   episodes: { next: { nextAchievedGoal: "achievedGoal" } },
 * });
 * for (let step = 0; step < 3; step++) {
 *   buffer.add({
 *     achievedGoal: [step],
 *     nextAchievedGoal: [step + 1],
 *     desiredGoal: [100],
 *     reward: [-1],
 *     terminated: [0],
 *     truncated: [step === 2 ? 1 : 0],
 *   });
 * }
 * const hindsight = new Hindsight(buffer, {
 *   strategy: "final",
 *   reward: ([achieved], [desired]) => achieved === desired ? 0 : -1,
 * });
 * const random = { integer: () => 0, uniform: () => 0 };
 * const batch = hindsight.relabel(buffer.gather([0, 2]), random);
 * assertEquals(batch.desiredGoal, Float32Array.of(3, 3));
 * assertEquals(batch.reward, Float32Array.of(-1, 0));
 * ```
 */
export class Hindsight {
  readonly #options: HindsightOptions;
  readonly #strategy: HindsightStrategy;
  readonly #probability: number;
  readonly #schema: ReplaySchema;
  readonly #leaves: GoalLeaves;
  readonly #ring: Ring;
  readonly #span: EpisodeSpan;
  /** Reads what the rows achieved that goals come from. */
  readonly #gatherer: Gatherer;
  readonly #goalSchema: ReplaySchema;
  #goals: BoundBatch | undefined;
  /** Of each row of a batch, whether it gets another goal. */
  #isOther = new Uint8Array(0);
  /** The batch that was relabelled last. */
  #bound: BoundBatch | undefined;
  /** What a row achieved, and its new goal. */
  readonly #achieved: FieldArray;
  readonly #desired: FieldArray;

  /**
   * Prepares to relabel the rows of a buffer.
   *
   * @param buffer Its rows are steps of episodes, with the goals that were
   * achieved and desired.
   * @param options Which rows get which goals, and what follows from it.
   * @throws {TypeError} If rows are not single steps of episodes, memory is
   * shared, or there is no such strategy.
   * @throws {RangeError} If `k` is below 0, there is no such field, or goals
   * differ in size.
   */
  constructor(buffer: ReplayBuffer, options: HindsightOptions) {
    const { strategy = "future", k = 4 } = options;
    checkStrategy(strategy, k);
    const parts = partsOf.get(buffer)!;
    const episodes = checkEpisodes(parts);
    const { schema, rows, rings } = parts;
    this.#options = options;
    this.#strategy = strategy;
    this.#probability = k === Infinity ? 1 : k / (k + 1);
    this.#schema = schema;
    this.#leaves = goalLeaves(schema, options);
    this.#ring = rings[0];
    this.#span = new EpisodeSpan(rings[0], episodes);
    this.#goalSchema = goalSchema(schema, this.#leaves.achieved);
    this.#gatherer = new Gatherer(this.#goalSchema, rows, episodes);
    const { dtype, size } = this.#goalSchema.drawn.leaves[0];
    this.#achieved = allocateArray(dtype, size);
    this.#desired = allocateArray(dtype, size);
  }

  /**
   * Gives rows of a batch, each with probability `k / (k + 1)`, another goal and
   * the reward that follows from it. The buffer must not have changed since they
   * were drawn.
   *
   * @param batch Rows of the buffer, as `sample` and `gather` give them; changed
   * in place.
   * @param random Where randomness comes from.
   * @returns The batch.
   * @throws {RangeError} If the buffer does not hold its rows.
   * @throws {TypeError} If the batch is not as the buffer makes them.
   */
  relabel(batch: Batch, random: Random): Batch {
    const bound = this.#bind(batch);
    const { slots } = bound.drawn;
    this.#checkHeld(slots);
    const goals = this.#goalsFor(slots.length);
    for (let i = 0; i < slots.length; i++) {
      const isOther = random.uniform() < this.#probability;
      this.#isOther[i] = isOther ? 1 : 0;
      goals.drawn.slots[i] = isOther
        ? this.#choose(slots[i], random)
        : slots[i];
    }
    this.#gatherer.gather(goals);
    const given = goals.targets[0].array;
    for (let i = 0; i < slots.length; i++) {
      if (this.#isOther[i] === 1) this.#rewrite(bound, i, given);
    }
    return batch;
  }

  #bind(batch: Batch): BoundBatch {
    if (this.#bound?.batch !== batch || !this.#bound.isCurrent) {
      this.#bound = new BoundBatch(batch, this.#schema);
    }
    return this.#bound;
  }

  #checkHeld(slots: Int32Array): void {
    for (const slot of slots) {
      if (this.#ring.holds(slot)) continue;
      throw new RangeError(
        `Cannot relabel slot ${slot}: expected one of the ${this.#ring.length} rows that may be drawn`,
      );
    }
  }

  #goalsFor(size: number): BoundBatch {
    if (this.#goals?.drawn.slots.length !== size) {
      const { dtype, size: length } = this.#goalSchema.drawn.leaves[0];
      const goal = allocateArray(dtype, size * length);
      const slots = new Int32Array(size), weights = new Float32Array(size);
      this.#goals = new BoundBatch({ goal, slots, weights }, this.#goalSchema);
      this.#isOther = new Uint8Array(size);
    }
    return this.#goals;
  }

  /** The slot of the row that achieved what becomes the goal of another. */
  #choose(slot: number, random: Random): number {
    if (this.#strategy === "random") {
      return this.#span.slotAt(random.integer(this.#ring.length));
    }
    const span = this.#span;
    const after = span.after(slot);
    if (this.#strategy === "final") return span.move(slot, after);
    const before = this.#strategy === "episode" ? span.before(slot) : 0;
    return span.move(slot, random.integer(before + after + 1) - before);
  }

  /** Gives a row the goal at its place. */
  #rewrite({ targets }: BoundBatch, row: number, goals: FieldArray): void {
    const { achieved, desired, reward, terminated } = this.#leaves;
    const done = targets[achieved].array;
    const size = this.#desired.length;
    for (let i = 0; i < size; i++) {
      this.#achieved[i] = done[row * size + i];
      this.#desired[i] = goals[row * size + i];
    }
    for (const index of desired) {
      targets[index].array.set(this.#desired, row * size);
    }
    const { reward: rewardOf, terminated: isTerminated } = this.#options;
    targets[reward].array[row] = rewardOf(this.#achieved, this.#desired);
    if (isTerminated === undefined) return;
    const ends = isTerminated(this.#achieved, this.#desired);
    targets[terminated].array[row] = ends ? 1 : 0;
  }
}

function checkStrategy(strategy: HindsightStrategy, k: number): void {
  if (!STRATEGIES.includes(strategy)) {
    throw new TypeError(
      `Cannot relabel by '${strategy}': did you mean '${
        closest(strategy, STRATEGIES)
      }'?`,
    );
  }
  if (k >= 0) return;
  throw new RangeError(
    `Cannot relabel ${k} rows for each other one: expected a number of at least 0`,
  );
}

/** What looks along the episodes of a buffer that can be relabelled. */
function checkEpisodes(
  { schema, episodes, control }: ReplayParts,
): Episodes {
  if (episodes === undefined) {
    throw new TypeError(
      "Cannot relabel rows that stand for themselves: expected a buffer with the option 'episodes'",
    );
  }
  if (schema.episodes?.nStep !== undefined) {
    throw new TypeError(
      "Cannot relabel returns of several steps: expected a buffer without 'nStep'",
    );
  }
  if (control === undefined) return episodes;
  throw new TypeError(
    "Cannot relabel rows in shared memory, as they may change meanwhile: expected a buffer in memory of its own",
  );
}
