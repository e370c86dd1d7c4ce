import {
  checkOptions,
  OBJECT,
  type OptionKinds,
  whole,
} from "@bellman/files/options";
import type { Episode, Space } from "@bellman/types";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import {
  type Column,
  columnsOf,
  fillColumn,
  nestArrays,
  refusal,
} from "./columns.ts";
import { type Columns, DatasetRows } from "./dataset_rows.ts";
import { checkEpisode } from "./episodes.ts";
import { misfit, type Spaces } from "./spaces.ts";

/** Options of the episodes that a {@linkcode Dataset} learns from. */
export interface SplitOptions {
  /**
   * Share of the episodes that are held out from learning: at least one, unless it is 0.
   *
   * @default 0.1
   */
  readonly holdout?: number;
  /**
   * Share of the other episodes that is kept, those with the best discounted returns: at
   * least one.
   *
   * @default 1
   */
  readonly bestFraction?: number;
  /**
   * Discount of these returns, for each step.
   *
   * @default 0.99
   */
  readonly gamma?: number;
  /**
   * Whole number that, with the number of an episode, says if it is held out.
   *
   * @default 0
   */
  readonly seed?: number;
}

/** Options of a {@linkcode Dataset}. */
export interface DatasetOptions extends Spaces, SplitOptions {}

/** Space of a reward, which may have any value. */
const REWARD: Space = {
  type: "box",
  shape: [],
  low: -Infinity,
  high: Infinity,
  dtype: "float64",
};

const share = (above: boolean, isFine: (it: number) => boolean) =>
  [
    "number",
    `a number ${above ? "above 0, up" : "from 0"} to 1`,
    isFine,
  ] as const;

const OPTIONS: OptionKinds<DatasetOptions> = {
  observationSpace: OBJECT,
  actionSpace: OBJECT,
  holdout: share(false, (it) => it >= 0 && it <= 1),
  bestFraction: share(true, (it) => it > 0 && it <= 1),
  gamma: share(false, (it) => it >= 0 && it <= 1),
  seed: whole(0),
};

/** Mean and population deviation of each number of an observation. */
export interface ObservationStatistics {
  /** Means, nested as an observation, each array a `Float64Array`. */
  readonly mean: NestedNumbers;
  /** Deviations, nested likewise. */
  readonly deviation: NestedNumbers;
}

/** Numbers of a value of a space, nested as the space. */
export type NestedNumbers =
  | Float64Array
  | { [name: string]: NestedNumbers }
  | NestedNumbers[];

/**
 * Recorded episodes to learn from, checked once, as rows in typed arrays. Whole
 * episodes are held out: neighbouring steps are too much alike to be on both sides.
 *
 * @example
 * ```ts
 * import { Dataset } from "@bellman/buffers/datasets";
 * import { assertEquals } from "@std/assert";
 *
 * const episode = (first: number) => ({
 *   observations: Float32Array.of(first, first + 1, first + 2),
 *   actions: Int32Array.of(0, 1),
 *   rewards: [1, first],
 *   terminations: [0, 1],
 *   truncations: [0, 0],
 * });
 * const data = new Dataset([episode(0), episode(10), episode(20)], {
 *   observationSpace: {
 *     type: "box",
 *     shape: [1],
 *     low: -Infinity,
 *     high: Infinity,
 *     dtype: "float32",
 *   },
 *   actionSpace: { type: "discrete", n: 2 },
 *   holdout: 0.3,
 * });
 * assertEquals([data.training.numSteps, data.heldOut.numSteps], [4, 2]);
 * assertEquals([data.meanReturn, data.bestReturn], [11, 21]);
 * const random = { integer: (n: number) => n - 1 };
 * const batch = data.training.sample(random, data.training.allocate(2));
 * assertEquals(batch.terminated, Uint8Array.of(1, 1));
 * ```
 */
export class Dataset {
  /** Space of one observation. */
  readonly observationSpace: Space;
  /** Space of one action. */
  readonly actionSpace: Space;
  /** Number of all episodes. */
  readonly numEpisodes: number;
  /** Number of all steps. */
  readonly numSteps: number;
  /** Sum of the rewards of each episode. */
  readonly returns: Float64Array;
  /** Discounted sum of the rewards of each episode. */
  readonly discountedReturns: Float64Array;
  /** Steps to learn from: of the best episodes if `bestFraction` is below 1, best first. */
  readonly training: DatasetRows;
  /** Steps of the episodes that are held out; none where `holdout` is 0. */
  readonly heldOut: DatasetRows;
  readonly #columns: Columns;
  readonly #starts: Int32Array;
  #hash: string | undefined;
  #statistics: ObservationStatistics | undefined;

  /**
   * Copies and checks episodes. One whose last step neither terminates nor truncates it
   * was cut by the recording, and counts as truncated.
   *
   * @param episodes The episodes, possibly generated lazily.
   * @param options Their spaces, and the choice of those to learn from. Observations
   * may lie outside of the bounds of their boxes, actions may not.
   * @throws {RangeError} If there are no episodes, or none is left on a side; if one has
   * no steps, arrays of other lengths or shapes, ends early, has a number that is not
   * finite or not of its space, or an action that its mask forbids.
   * @throws {TypeError} If an option is unknown or of another type.
   */
  constructor(episodes: Iterable<Episode>, options: DatasetOptions) {
    const {
      observationSpace,
      actionSpace,
      holdout = 0.1,
      bestFraction = 1,
      gamma = 0.99,
      seed = 0,
    } = checkOptions("a data set", options, OPTIONS);
    const all = [...episodes];
    if (all.length === 0) {
      throw new RangeError(
        "Cannot learn from data without episodes: expected one or more",
      );
    }
    this.observationSpace = observationSpace;
    this.actionSpace = actionSpace;
    this.numEpisodes = all.length;
    const starts = this.#starts = startsOf(all);
    this.numSteps = starts[all.length] - all.length;
    this.#columns = readColumns(all, { observationSpace, actionSpace }, starts);
    this.returns = returnsOf(all, 1);
    this.discountedReturns = returnsOf(all, gamma);
    const [kept, heldOut] = split(all.length, holdout, seed);
    const best = bestFraction === 1
      ? kept
      : kept.sort((a, b) =>
        this.discountedReturns[b] - this.discountedReturns[a]
      ).slice(0, Math.max(1, Math.floor(bestFraction * kept.length)));
    this.training = new DatasetRows(this.#columns, best, starts);
    this.heldOut = new DatasetRows(this.#columns, heldOut, starts);
  }

  /**
   * Checks that the data fits spaces, such as those of an environment to act in: kinds
   * and shapes, not bounds.
   *
   * @param spaces The spaces.
   * @throws {RangeError} If it does not; the message names both shapes.
   */
  checkSpaces(spaces: Spaces): void {
    const problem = misfit(this, spaces);
    if (problem === undefined) return;
    throw new RangeError(`Cannot use the data set: ${problem}`);
  }

  /** Mean return of all episodes. */
  get meanReturn(): number {
    return this.returns.reduce((sum, it) => sum + it, 0) / this.numEpisodes;
  }

  /** Highest return of all episodes. */
  get bestReturn(): number {
    return this.returns.reduce((most, it) => Math.max(most, it));
  }

  /** Lowest return of all episodes. */
  get worstReturn(): number {
    return this.returns.reduce((least, it) => Math.min(least, it));
  }

  /**
   * Scale of rewards by which returns differ by up to 1000.
   *
   * @throws {RangeError} If all returns are equal.
   */
  get rewardScale(): number {
    const range = this.bestReturn - this.worstReturn;
    if (range > 0) return 1000 / range;
    throw new RangeError(
      `Cannot scale rewards by the range of returns: all ${this.numEpisodes} episodes have the return ${this.bestReturn}`,
    );
  }

  /** Statistics of the observations before the steps of `training`. */
  get observationStatistics(): ObservationStatistics {
    return this.#statistics ??= this.#summarize();
  }

  #summarize(): ObservationStatistics {
    const { observations } = this.#columns, starts = this.#starts;
    const rows = this.training.episodes.map((it): [number, number] => [
      starts[it],
      starts[it + 1] - 1,
    ]);
    const means = observations.map((column) => meanOf(column, rows));
    const deviations = observations.map((column, i) =>
      meanOf(column, rows, means[i]).map(Math.sqrt)
    );
    const nest = (arrays: Float64Array[]) =>
      nestArrays(this.observationSpace, arrays.values()) as NestedNumbers;
    return { mean: nest(means), deviation: nest(deviations) };
  }

  /**
   * SHA-256 of the episodes' numbers, in hexadecimal digits: the same for the same
   * episodes in any file, however they are split.
   */
  get sha256(): string {
    return this.#hash ??= this.#digest();
  }

  #digest(): string {
    const { observations, actions, masks, rewards, terminated } = this.#columns;
    const columns = [...observations, ...actions, ...masks ? [masks] : []];
    const hash = sha256.create();
    const forms = columns.map(({ name, box }) => [name, box.shape, box.dtype]);
    hash.update(new TextEncoder().encode(JSON.stringify(forms)));
    const arrays = columns.map(({ data }) => data);
    for (const array of [this.#starts, ...arrays, rewards, terminated]) {
      const { buffer, byteOffset, byteLength } = array;
      hash.update(new Uint8Array(buffer, byteOffset, byteLength));
    }
    return bytesToHex(hash.digest());
  }
}

/** Finds the first row of each episode, with one row after its last step, and the end. */
function startsOf(episodes: readonly Episode[]): Int32Array {
  const starts = new Int32Array(episodes.length + 1);
  episodes.forEach((episode, number) => {
    const steps = checkEpisode(episode, number, "use");
    if (steps === 0) throw refusal(number, "it has no steps");
    starts[number + 1] = starts[number] + steps + 1;
  });
  return starts;
}

function readColumns(
  episodes: readonly Episode[],
  { observationSpace, actionSpace }: Spaces,
  starts: Int32Array,
): Columns {
  const rows = starts[episodes.length];
  const observations = columnsOf(observationSpace, "observations", { rows });
  const actions = columnsOf(actionSpace, "actions", { rows, bounded: true });
  const [rewards] = columnsOf(REWARD, "rewards", { rows });
  const terminated = new Uint8Array(rows);
  const masks = masksOf(episodes, actionSpace, rows);
  episodes.forEach((it, episode) => {
    const at = starts[episode], end = starts[episode + 1];
    const steps = end - at - 1;
    const seen = { episode, at, rows: steps + 1 };
    const taken = { episode, at, rows: steps };
    for (const part of observations) fillColumn(part, it.observations, seen);
    for (const part of actions) fillColumn(part, it.actions, taken);
    fillColumn(rewards, it.rewards, taken);
    if (it.terminations[steps - 1]) terminated[end - 2] = 1;
    if (masks === undefined) return;
    if (it.actionMasks === undefined) {
      throw refusal(
        episode,
        "it has no action masks, expected some as others have",
      );
    }
    fillColumn(masks, it.actionMasks, seen);
    checkAllowed(masks, actions[0], taken);
  });
  return {
    observationSpace,
    actionSpace,
    observations,
    actions,
    rewards: rewards.data as Float64Array,
    terminated,
    masks,
  };
}

/** Numbers of choices of the parts of an action; undefined where masks forbid none. */
function choicesOf(space: Space): readonly number[] | undefined {
  if (space.type === "discrete") return [space.n];
  if (space.type === "multiDiscrete") return space.nvec;
  return space.type === "multiBinary" ? new Array(space.n).fill(2) : undefined;
}

function masksOf(
  episodes: readonly Episode[],
  space: Space,
  rows: number,
): Column | undefined {
  const masked = episodes.findIndex((it) => it.actionMasks !== undefined);
  if (masked < 0) return undefined;
  const choices = choicesOf(space);
  if (choices === undefined) {
    throw refusal(
      masked,
      `it has masks of actions, which are a ${space.type}: expected none`,
    );
  }
  const n = choices.reduce((sum, it) => sum + it, 0);
  return columnsOf({ type: "multiBinary", n }, "action masks", { rows })[0];
}

/** Throws where an action is one that its mask forbids. */
function checkAllowed(
  masks: Column,
  actions: Column,
  { episode, at, rows }: { episode: number; at: number; rows: number },
): void {
  const { space, size } = actions, choices = choicesOf(space)!;
  const first = space.type === "discrete" ? space.start ?? 0 : 0;
  for (let row = at; row < at + rows; row++) {
    let mask = row * masks.size;
    for (let part = 0; part < size; mask += choices[part++]) {
      const action = actions.data[row * size + part];
      if (masks.data[mask + action - first] !== 0) continue;
      throw refusal(
        episode,
        `its actions at step ${
          row - at
        } have ${action}, which the action mask forbids`,
      );
    }
  }
}

function returnsOf(episodes: readonly Episode[], gamma: number): Float64Array {
  return Float64Array.from(episodes, ({ rewards }) => {
    let sum = 0;
    for (let step = rewards.length - 1; step >= 0; step--) {
      sum = rewards[step] + gamma * sum;
    }
    return sum;
  });
}

/** Splits the numbers of episodes: those to learn from, and those held out. */
function split(
  count: number,
  holdout: number,
  seed: number,
): [kept: number[], heldOut: number[]] {
  const numbers = Array.from({ length: count }, (_, number) => number);
  if (holdout === 0) return [numbers, []];
  const size = Math.max(1, Math.round(holdout * count));
  if (size >= count) {
    throw new RangeError(
      `Cannot hold out ${holdout} of ${count} episode${
        count === 1 ? "" : "s"
      }: none is left to learn from, expected a smaller share or 0`,
    );
  }
  const texts = new TextEncoder();
  const keys = numbers.map((number) =>
    bytesToHex(sha256(texts.encode(`hold out ${number} of seed ${seed}`)))
  );
  const order = numbers.toSorted((a, b) => keys[a] < keys[b] ? -1 : 1);
  const chosen = new Set(order.slice(0, size));
  return [
    numbers.filter((it) => !chosen.has(it)),
    numbers.filter((it) => chosen.has(it)),
  ];
}

/** Means of a column's numbers over some rows; of squared distances from `centers`. */
function meanOf(
  { data, size }: Column,
  rows: readonly (readonly [start: number, end: number])[],
  centers?: Float64Array,
): Float64Array {
  const sums = new Float64Array(size);
  let count = 0;
  for (const [start, end] of rows) {
    count += end - start;
    for (let at = start * size; at < end * size; at++) {
      const i = at % size;
      sums[i] += centers === undefined
        ? data[at]
        : (data[at] - centers[i]) ** 2;
    }
  }
  return sums.map((sum) => sum / count);
}
