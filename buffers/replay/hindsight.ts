import {
  checkOptions,
  FUNCTION,
  NUMBER,
  type OptionKinds,
  TEXT,
  TEXTS,
} from "@bellman/files/options";
import {
  ARRAYS,
  checkChoice,
  type FieldArray,
  findLeaf,
  type Leaf,
  makeSchema,
} from "../fields.ts";
import type { Random } from "../samplers/sampler.ts";
import { type CheckedBatch, Gatherer } from "./gatherer.ts";
import type { Batch } from "./options.ts";
import {
  internals,
  type ReplayBuffer,
  type ReplayMemory,
} from "./replay_buffer.ts";
import type { ReplaySchema } from "./replay_schema.ts";
import type { Episodes, Ring } from "./rows.ts";

/**
 * Choice of replacement goals: achieved at a random later step of the episode, at its
 * last step, at any of its steps, or at any step in the buffer.
 */
export type HindsightStrategy = "future" | "final" | "episode" | "random";

/**
 * Function of achieved and desired goals, both `[rows, ...shape]`, with a number for
 * each row. The next call reuses the arrays.
 */
export type GoalFunction = (
  achieved: FieldArray,
  desired: FieldArray,
) => ArrayLike<number>;

/** Options of {@linkcode Hindsight}. */
export interface HindsightOptions {
  /** Rewards of the achieved and desired goals. */
  readonly reward: GoalFunction;
  /**
   * 1 where the achieved goal terminates the episode, else 0.
   *
   * @default the rows keep their own flags
   */
  readonly terminated?: GoalFunction;
  /**
   * Choice of replacement goals.
   *
   * @default "future"
   */
  readonly strategy?: HindsightStrategy;
  /**
   * Number of relabelled rows for each original one: a row is relabelled with
   * probability `k / (k + 1)`.
   *
   * @default 4
   * @minimum 0
   */
  readonly k?: number;
  /**
   * Path of the achieved goal in a sampled row: an array field, or a next value of one.
   *
   * @default "nextAchievedGoal"
   */
  readonly achieved?: string;
  /**
   * Paths of all copies of the desired goal in a sampled row.
   *
   * @default ["desiredGoal"]
   */
  readonly desired?: readonly string[];
  /**
   * Path of the reward in a sampled row.
   *
   * @default "reward"
   */
  readonly rewardPath?: string;
}

const OPTIONS: OptionKinds<HindsightOptions> = {
  reward: FUNCTION,
  terminated: FUNCTION,
  strategy: TEXT,
  k: NUMBER,
  achieved: TEXT,
  desired: TEXTS,
  rewardPath: TEXT,
};

const STRATEGIES: readonly HindsightStrategy[] = [
  "future",
  "final",
  "episode",
  "random",
];

/**
 * Hindsight experience replay: relabels sampled rows with goals that were achieved, and
 * recomputes their rewards. Nothing is stored twice, and goals come from any row of the
 * buffer, also of running episodes.
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
 *   reward: (achieved, desired) =>
 *     Array.from(achieved, (it, i) => it === desired[i] ? 0 : -1),
 * });
 * const random = { integer: () => 0, uniform: () => 0 };
 * const batch = hindsight.relabel(buffer.gather([0, 2]), random);
 * assertEquals(batch.desiredGoal, Float32Array.of(3, 3));
 * assertEquals(batch.reward, Float32Array.of(-1, 0));
 * ```
 */
export class Hindsight {
  readonly #options: HindsightOptions;
  readonly #probability: number;
  readonly #leaves: GoalLeaves;
  readonly #ring: Ring;
  readonly #episodes: Episodes;
  /** Reads whole rows. */
  readonly #rowGatherer: Gatherer;
  /** Reads the goals that rows achieved. */
  readonly #gatherer: Gatherer;
  #goals: CheckedBatch | undefined;
  /** Numbers of a goal. */
  readonly #size: number;
  /** Rows of a batch that get another goal. */
  #rows = new Int32Array(0);
  /** The goals that these achieved, and their new ones. */
  #achieved: FieldArray;
  #desired: FieldArray;

  /**
   * Prepares to relabel rows of a buffer.
   *
   * @param buffer Buffer whose rows are steps of episodes, with achieved and desired
   * goals.
   * @param options Number and choice of replacement goals, and rewards.
   * @throws {TypeError} If rows are not single steps of episodes, or there is no
   * such strategy.
   * @throws {RangeError} If `k` is below 0, there is no such field, or goals
   * differ in size.
   */
  constructor(buffer: ReplayBuffer, options: HindsightOptions) {
    checkOptions("hindsight", options, OPTIONS);
    const { strategy = "future", k = 4 } = options;
    checkStrategy(strategy, k);
    const memory = internals.get(buffer)!;
    const { schema } = memory;
    this.#options = options;
    this.#probability = k === Infinity ? 1 : k / (k + 1);
    this.#episodes = checkEpisodes(memory);
    this.#ring = memory.ring;
    this.#rowGatherer = memory.gatherer;
    this.#leaves = goalLeaves(schema, options);
    const goals = goalSchema(schema, this.#leaves.achieved);
    this.#gatherer = new Gatherer(goals, memory);
    const { dtype, size } = goals.drawn.leaves[0];
    this.#size = size;
    this.#achieved = this.#desired = new ARRAYS[dtype](0);
  }

  /**
   * Relabels rows of a batch, each with probability `k / (k + 1)`, and recomputes their
   * rewards. The buffer must not have changed since they were sampled.
   *
   * @typeParam B Type of the batch.
   * @param batch Batch of the buffer, from `sample` or `gather`; changed in place.
   * @param random Random stream.
   * @returns The batch.
   * @throws {RangeError} If the buffer does not hold its rows, or a function of goals
   * gives another number of results than rows.
   * @throws {TypeError} If the batch is not as the buffer makes them.
   */
  relabel<B extends Pick<Batch, "slots" | "weights">>(
    batch: B,
    random: Random,
  ): B {
    const checked = this.#rowGatherer.check(batch as Batch);
    const { slots } = checked.drawn;
    const goals = this.#goalsFor(slots.length);
    for (const slot of slots) {
      if (this.#ring.holds(slot)) continue;
      throw new RangeError(
        `Cannot relabel slot ${slot}: expected one of the ${this.#ring.length} rows that may be drawn`,
      );
    }
    let count = 0;
    for (let i = 0; i < slots.length; i++) {
      const isOther = random.uniform() < this.#probability;
      if (isOther) this.#rows[count++] = i;
      goals.drawn.slots[i] = isOther
        ? this.#choose(slots[i], random)
        : slots[i];
    }
    if (count === 0) return batch;
    this.#gatherer.gather(goals);
    this.#rewrite(checked, count, goals.targets[0].array);
    return batch;
  }

  #goalsFor(size: number): CheckedBatch {
    if (this.#goals?.drawn.slots.length !== size) {
      this.#goals = this.#gatherer.check(this.#gatherer.batch(size));
      this.#rows = new Int32Array(size);
      const { array } = this.#goals.targets[0];
      this.#achieved = array.slice();
      this.#desired = array.slice();
    }
    return this.#goals;
  }

  /** Returns the slot of the row whose goal another one gets. */
  #choose(slot: number, random: Random): number {
    const ring = this.#ring, episodes = this.#episodes;
    const { strategy = "future" } = this.#options;
    if (strategy === "random") {
      return ring.slotAt(random.integer(ring.length));
    }
    const after = episodes.countSteps(slot, true);
    if (strategy === "final") return ring.move(slot, after);
    const before = strategy === "episode"
      ? episodes.countSteps(slot, false)
      : 0;
    return ring.move(slot, random.integer(before + after + 1) - before);
  }

  /** Gives the first of the chosen rows the goals at their places. */
  #rewrite(
    { targets }: CheckedBatch,
    count: number,
    goals: FieldArray,
  ): void {
    const leaves = this.#leaves, size = this.#size;
    const done = targets[leaves.achieved].array;
    for (let at = 0; at < count; at++) {
      const row = this.#rows[at];
      for (let i = 0; i < size; i++) {
        const goal = goals[row * size + i];
        this.#achieved[at * size + i] = done[row * size + i];
        this.#desired[at * size + i] = goal;
        for (const leaf of leaves.desired) {
          targets[leaf].array[row * size + i] = goal;
        }
      }
    }
    const write = (leaf: number, of: GoalFunction, name: string) => {
      const results = of(
        this.#achieved.subarray(0, count * size),
        this.#desired.subarray(0, count * size),
      );
      if (results.length !== count) {
        throw new RangeError(
          `Cannot relabel ${count} rows by ${results.length} results of '${name}': expected one for each row`,
        );
      }
      const { array } = targets[leaf];
      for (let at = 0; at < count; at++) array[this.#rows[at]] = results[at];
    };
    const { reward, terminated } = this.#options;
    write(leaves.reward, reward, "reward");
    if (terminated) write(leaves.terminated, terminated, "terminated");
  }
}

function checkStrategy(strategy: HindsightStrategy, k: number): void {
  checkChoice(strategy, STRATEGIES, "relabel by");
  if (k >= 0) return;
  throw new RangeError(
    `Cannot relabel ${k} rows for each other one: expected a number of at least 0`,
  );
}

/** Throws unless a buffer's rows can be relabelled; returns its episodes. */
function checkEpisodes({ schema, episodes }: ReplayMemory): Episodes {
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
  return episodes;
}

/** Indices of the drawn arrays that goals are read from and written to. */
type GoalLeaves = ReturnType<typeof goalLeaves>;

function goalLeaves(schema: ReplaySchema, options: HindsightOptions) {
  const { achieved = "nextAchievedGoal", desired = ["desiredGoal"] } = options;
  const { rewardPath = "reward" } = options;
  const goal = findLeaf(achieved, schema.drawn, "relabel");
  const reward = findLeaf(rewardPath, schema.drawn, "relabel");
  checkSize(reward, 1);
  const terminated = schema.drawnLeaves.find(({ stored }) =>
    stored === schema.episodes?.terminated
  );
  return {
    achieved: goal.index,
    desired: desired.map((path) => {
      const leaf = findLeaf(path, schema.drawn, "relabel");
      checkSize(leaf, goal.size);
      return leaf.index;
    }),
    reward: reward.index,
    terminated: terminated!.leaf.index,
  };
}

function checkSize({ name, size }: Leaf, wanted: number): void {
  if (size === wanted) return;
  throw new RangeError(
    `Cannot relabel '${name}' of ${size} numbers: expected ${wanted}`,
  );
}

/** Makes a schema that draws nothing but one leaf, as `goal`. */
function goalSchema(schema: ReplaySchema, index: number): ReplaySchema {
  const achieved = schema.drawnLeaves[index];
  const { shape, dtype } = achieved.leaf;
  const drawn = makeSchema({ goal: { shape, dtype } });
  return {
    ...schema,
    drawn,
    drawnLeaves: [{ ...achieved, leaf: drawn.leaves[0] }],
    maxFrames: achieved.frames,
  };
}
