import {
  checkOptions,
  OBJECT,
  type OptionKind,
  type OptionKinds,
  whole,
} from "@bellman/files/options";
import type { Episode, Space } from "@bellman/types";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { nest } from "../fields.ts";
import {
  type Column,
  type Columns,
  columnsOf,
  fillColumns,
  refusal,
  type Steps,
  stepsOf,
} from "./columns.ts";
import { DatasetRows } from "./dataset_rows.ts";
import { checkFit, choicesOf, type Spaces } from "./spaces.ts";

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

const SHARE: OptionKind = [
  "number",
  "a number from 0 to 1",
  (it: number) => it >= 0 && it <= 1,
];

const OPTIONS: OptionKinds<DatasetOptions> = {
  observationSpace: OBJECT,
  actionSpace: OBJECT,
  holdout: SHARE,
  bestFraction: [
    "number",
    "a number above 0, up to 1",
    (it: number) => it > 0 && it <= 1,
  ],
  gamma: SHARE,
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
    const all = Array.from(episodes, stepsOf);
    if (all.length === 0) {
      throw new RangeError(
        "Cannot learn from data without episodes: expected one or more",
      );
    }
    this.observationSpace = observationSpace;
    this.actionSpace = actionSpace;
    this.numEpisodes = all.length;
    const starts = this.#starts = new Int32Array(all.length + 1);
    all.forEach(({ rewards }, number) => {
      starts[number + 1] = starts[number] + rewards.length + 1;
    });
    this.numSteps = starts[all.length] - all.length;
    this.#columns = readColumns(all, { observationSpace, actionSpace }, starts);
    this.returns = returnsOf(all, 1);
    this.discountedReturns = returnsOf(all, gamma);
    const { kept, heldOut } = split(all.length, holdout, seed);
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
    checkFit(this, spaces);
  }

  /** Mean return of all episodes. */
  get meanReturn(): number {
    return this.returns.reduce((sum, it) => sum + it, 0) / this.numEpisodes;
  }

  /** Highest return of all episodes. */
  get bestReturn(): number {
    return this.returns.reduce((most, it) => Math.max(most, it));
  }

  /**
   * Scale of rewards by which returns differ by up to 1000.
   *
   * @throws {RangeError} If all returns are equal.
   */
  get rewardScale(): number {
    const worst = this.returns.reduce((least, it) => Math.min(least, it));
    const range = this.bestReturn - worst;
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
    const { schema, list } = this.#columns;
    const moments = list.map((it) => momentsOf(it, this.training.rows));
    const nested = (name: "mean" | "deviation") =>
      nest(schema, ({ index }) => moments[index][name]).observations;
    return { mean: nested("mean"), deviation: nested("deviation") };
  }

  /**
   * SHA-256 of the episodes' numbers, in hexadecimal digits: the same for the same
   * episodes in any file, however they are split.
   */
  get sha256(): string {
    return this.#hash ??= this.#digest();
  }

  #digest(): string {
    const { list } = this.#columns, hash = sha256.create();
    const forms = list.map(({ name, shape, dtype }) => [name, shape, dtype]);
    hash.update(new TextEncoder().encode(JSON.stringify(forms)));
    for (const array of [this.#starts, ...list.map(({ data }) => data)]) {
      const { buffer, byteOffset, byteLength } = array;
      hash.update(new Uint8Array(buffer, byteOffset, byteLength));
    }
    return bytesToHex(hash.digest());
  }
}

function readColumns(
  episodes: readonly Steps[],
  spaces: Spaces,
  starts: Int32Array,
): Columns {
  const masked = episodes.some((it) => it.actionMasks !== undefined);
  const columns = columnsOf(spaces, starts[episodes.length], {
    masked,
    bounded: true,
  });
  episodes.forEach((steps, number) => {
    const first = starts[number], end = starts[number + 1] - 1;
    fillColumns(columns, steps, { number, first });
    if (masked) {
      checkAllowed(columns, spaces.actionSpace, { number, first, end });
    }
  });
  return columns;
}

/** Throws where an action is one that its mask forbids. */
function checkAllowed(
  { list }: Columns,
  space: Space,
  { number, first, end }: { number: number; first: number; end: number },
): void {
  const { data, size, low } = list.find(({ name }) => name === "actions")!;
  const masks = list.at(-1)!, choices = choicesOf(space)!;
  for (let row = first; row < end; row++) {
    let mask = row * masks.size - (low as number);
    for (let part = 0; part < size; mask += choices[part++]) {
      const action = data[row * size + part];
      if (masks.data[mask + action] !== 0) continue;
      throw refusal(
        number,
        `its actions at step ${
          row - first
        } have ${action}, which the action mask forbids`,
      );
    }
  }
}

function returnsOf(episodes: readonly Steps[], gamma: number): Float64Array {
  return Float64Array.from(episodes, ({ rewards }) => {
    let sum = 0;
    for (let step = rewards.length - 1; step >= 0; step--) {
      sum = rewards[step] + gamma * sum;
    }
    return sum;
  });
}

/** Splits the numbers of episodes: those to learn from, and those held out. */
function split(count: number, holdout: number, seed: number) {
  const size = holdout && Math.max(1, Math.round(holdout * count));
  if (size >= count) {
    throw new RangeError(
      `Cannot hold out ${holdout} of ${count} episode${
        count === 1 ? "" : "s"
      }: none is left to learn from, expected a smaller share or 0`,
    );
  }
  const numbers = Array.from({ length: count }, (_, number) => number);
  const keys = numbers.map((number) => {
    const text = `hold out ${number} of seed ${seed}`;
    return bytesToHex(sha256(new TextEncoder().encode(text)));
  });
  const order = numbers.toSorted((a, b) => keys[a] < keys[b] ? -1 : 1);
  const heldOut = order.slice(0, size).sort((a, b) => a - b);
  return { kept: order.slice(size).sort((a, b) => a - b), heldOut };
}

/** Returns means and population deviations of a column's numbers over some rows. */
function momentsOf({ data, size }: Column, rows: Int32Array) {
  const average = (of: (value: number, i: number) => number) => {
    const sums = new Float64Array(size);
    for (const row of rows) {
      for (let i = 0; i < size; i++) sums[i] += of(data[row * size + i], i);
    }
    return sums.map((sum) => sum / rows.length);
  };
  const mean = average((value) => value);
  const variance = average((value, i) => (value - mean[i]) ** 2);
  return { mean, deviation: variance.map(Math.sqrt) };
}
