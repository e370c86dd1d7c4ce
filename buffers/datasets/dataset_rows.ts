import type { Batch, RandomSource } from "@bellman/types";
import { ARRAYS, type FieldArray, nest } from "../fields.ts";
import { type Column, type Columns, copyRows, NEXT } from "./columns.ts";
import { partAt } from "./spaces.ts";

/** Steps of a data set, `[rows, ...shape]`, made by {@linkcode DatasetRows.allocate}. */
export interface DatasetBatch {
  /** Observations before the steps. */
  readonly observations: Batch;
  /** Actions. */
  readonly actions: Batch;
  /** Rewards. */
  readonly rewards: Float32Array;
  /** Observations after the steps, final ones at the ends of episodes. */
  readonly nextObservations: Batch;
  /** 1 where the step terminated the episode; truncated ones go on being worth something. */
  readonly terminated: Uint8Array;
  /** 1 where an episode, or a sequence, starts at the row: recurrent states are zero there. */
  readonly starts: Uint8Array;
  /** Action masks of `observations`, where the data has some. */
  readonly actionMasks?: Uint8Array;
  /** Action masks of `nextObservations`, where the data has some. */
  readonly nextActionMasks?: Uint8Array;
}

/** Options of {@linkcode DatasetRows.sample}. */
export interface SampleOptions {
  /**
   * Length of the sequences. The batch then holds its rows by sequence: the steps of
   * the first one, of the second, and so on. Where an episode ends inside of a sequence
   * another one follows.
   *
   * @default 1: single steps
   */
  readonly numSteps?: number;
}

/**
 * Steps of some episodes of a {@linkcode Dataset}, one episode after the other.
 *
 * @example
 * ```ts
 * import { Dataset } from "@bellman/buffers/datasets";
 * import { assertEquals } from "@std/assert";
 *
 * const { training } = new Dataset([{
 *   observations: [1, 2, 3],
 *   actions: [0, 1],
 *   rewards: [5, 6],
 *   terminations: [0, 1],
 *   truncations: [0, 0],
 * }], {
 *   observationSpace: {
 *     type: "box",
 *     shape: [1],
 *     low: 0,
 *     high: 9,
 *     dtype: "float32",
 *   },
 *   actionSpace: { type: "discrete", n: 2 },
 *   holdout: 0,
 * });
 * const { nextObservations, rewards } = training.read([1], training.allocate(1));
 * assertEquals([nextObservations, rewards], [
 *   Float32Array.of(3),
 *   Float32Array.of(6),
 * ]);
 * ```
 */
export class DatasetRows {
  /** Numbers of its episodes in the data set, in order. */
  readonly episodes: readonly number[];
  /** Rows of its steps, where each episode has one more row after its last step. */
  readonly rows: Int32Array;
  readonly #columns: Columns;
  /** Rewards and ends: copied apart, as a loop over other kinds of arrays is slower. */
  readonly #flat: readonly Column[];

  /**
   * Lists the steps of episodes. {@linkcode Dataset} makes its own.
   *
   * @param columns Numbers of all episodes.
   * @param episodes Numbers of those to list, in order.
   * @param starts First row of each episode of the columns, and the end of the last.
   */
  constructor(
    columns: Columns,
    episodes: readonly number[],
    starts: Int32Array,
  ) {
    this.#columns = columns;
    this.#flat = ["rewards", "terminated"]
      .map((name) => columns.list.find((it) => it.name === name)!);
    this.episodes = episodes;
    this.rows = Int32Array.from(episodes.flatMap((episode) => {
      const first = starts[episode], end = starts[episode + 1] - 1;
      return Array.from({ length: end - first }, (_, step) => first + step);
    }));
  }

  /** Number of steps. */
  get numSteps(): number {
    return this.rows.length;
  }

  /**
   * Makes the arrays of a batch.
   *
   * @param rows Number of rows.
   * @returns Arrays of zeros.
   */
  allocate(rows: number): DatasetBatch {
    const allocate = () =>
      nest(
        this.#columns.schema,
        ({ dtype, size }) => new ARRAYS[dtype](rows * size),
      ) as unknown as DatasetBatch;
    const batch = allocate(), { observations, actionMasks } = allocate();
    return {
      ...batch,
      rewards: new Float32Array(rows),
      nextObservations: observations,
      starts: new Uint8Array(rows),
      ...actionMasks && { nextActionMasks: actionMasks },
    };
  }

  /**
   * Copies steps into a batch.
   *
   * @param steps Their indices, from 0 to `numSteps - 1`, one for each row.
   * @param batch Batch of {@linkcode DatasetRows.allocate}, which is filled.
   * @returns The same batch.
   * @throws {RangeError} If there are more or fewer steps than rows, or no such step.
   */
  read(steps: ArrayLike<number>, batch: DatasetBatch): DatasetBatch {
    const rows = this.#locate(steps, batch);
    const [rewards, terminated] = this.#flat.map(({ data }) => data);
    for (let i = 0; i < rows.length; i++) {
      batch.rewards[i] = rewards[rows[i]];
      batch.terminated[i] = terminated[rows[i]];
      // Between two episodes lies a row without a step.
      batch.starts[i] = this.rows[steps[i] - 1] === rows[i] - 1 ? 0 : 1;
    }
    for (const column of this.#columns.list) {
      if (this.#flat.includes(column)) continue;
      const [name, ...keys] = column.path, next = NEXT[name];
      const target = (key: string) => partAt(batch, [key, ...keys]);
      copyRows(column, rows, target(name) as FieldArray);
      if (next) copyRows(column, rows, target(next) as FieldArray, 1);
    }
    return batch;
  }

  #locate(steps: ArrayLike<number>, { rewards }: DatasetBatch): Int32Array {
    if (steps.length !== rewards.length) {
      throw new RangeError(
        `Cannot read ${steps.length} steps into ${rewards.length} rows: expected one for each`,
      );
    }
    const rows = new Int32Array(steps.length);
    for (let i = 0; i < rows.length; i++) {
      const row = this.rows[steps[i]];
      if (row === undefined) {
        throw new RangeError(
          `Cannot read step ${steps[i]} of ${this.numSteps}: expected 0 to ${
            this.numSteps - 1
          }`,
        );
      }
      rows[i] = row;
    }
    return rows;
  }

  /**
   * Draws steps, each equally likely, with replacement; or sequences of steps that
   * follow each other, whose first step is as likely any one. The last episode is
   * followed by the first one.
   *
   * @param random Random numbers.
   * @param batch Batch of {@linkcode DatasetRows.allocate}, which is filled.
   * @param options Length of the sequences.
   * @returns The same batch.
   * @throws {RangeError} If the batch does not hold whole sequences.
   */
  sample(
    random: Pick<RandomSource, "integer">,
    batch: DatasetBatch,
    { numSteps = 1 }: SampleOptions = {},
  ): DatasetBatch {
    const rows = batch.rewards.length, sequences = rows / numSteps;
    if (!Number.isInteger(sequences) || !(numSteps >= 1)) {
      throw new RangeError(
        `Cannot draw sequences of ${numSteps} steps into ${rows} rows: expected a whole number of them`,
      );
    }
    const steps = new Int32Array(rows);
    for (let i = 0; i < rows; i++) {
      steps[i] = i % numSteps === 0
        ? random.integer(this.numSteps)
        : (steps[i - 1] + 1) % this.numSteps;
    }
    this.read(steps, batch);
    for (let i = 0; i < rows; i += numSteps) batch.starts[i] = 1;
    return batch;
  }
}
