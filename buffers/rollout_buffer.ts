import { refuseUnknown } from "@bellman/files/options";
import type { RandomSource } from "@bellman/types";
import {
  allocateRows,
  type ArrayCheck,
  checkCount,
  collect,
  type DataOf,
  type FieldArray,
  type FieldData,
  type Fields,
  type FieldValues,
  foreignState,
  makeSchema,
  nest,
  type Schema,
  unknownField,
  type ValuesOf,
} from "./fields.ts";

/**
 * Options of a {@linkcode RolloutBuffer}.
 *
 * @typeParam F Fields of a step.
 */
export interface RolloutBufferOptions<F extends Fields = Fields> {
  /** Number of parallel streams: environments, sensors. */
  readonly numEnvs: number;
  /** Capacity in steps of each stream. */
  readonly numSteps: number;
  /** Fields of each step, by name. */
  readonly fields: F;
}

/** Saved state of a {@linkcode RolloutBuffer}. */
export type RolloutBufferState = {
  /** Number of recorded steps. */
  length: number;
  /** The arrays of all fields, filled or not. */
  fields: { [name: string]: FieldData };
};

/**
 * Rollout buffer: records a fixed number of steps of several parallel streams.
 *
 * Each field is one array `[env, step, ...shape]`, allocated once: row `env * numSteps
 * + step` is a step, so the steps of a stream are contiguous. Adding a step copies its
 * numbers without allocating, except views of rows with 128 numbers or more if the
 * array is another one than for the last step.
 *
 * @typeParam F Fields of a step.
 *
 * @example
 * ```ts
 * import { RolloutBuffer } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * const buffer = new RolloutBuffer({
 *   numEnvs: 2,
 *   numSteps: 3,
 *   fields: {
 *     rewards: { shape: [], dtype: "float64" },
 *     observations: { position: { shape: [2], dtype: "float32" } },
 *   },
 * });
 * for (let step = 0; step < 3; step++) {
 *   buffer.add({
 *     rewards: [step, 10 + step],
 *     observations: { position: [step, 0, step, 1] },
 *   });
 * }
 * assertEquals(buffer.full, true);
 * assertEquals(buffer.data("rewards"), Float64Array.of(0, 1, 2, 10, 11, 12));
 * ```
 */
export class RolloutBuffer<const F extends Fields = Fields> {
  /** Number of parallel streams. */
  readonly numEnvs: number;
  /** Capacity in steps. */
  readonly numSteps: number;
  readonly #schema: Schema;
  readonly #arrays: readonly FieldArray[];
  readonly #writers: readonly StepWriter[];
  readonly #data: Record<string, FieldData>;
  /** The arrays of the step that is added. */
  readonly #values: ArrayLike<number>[] = [];
  readonly #adding: ArrayCheck;
  #length = 0;

  /**
   * Allocates the arrays of all fields.
   *
   * @param options Sizes and fields.
   * @throws {RangeError} If a size or a shape is not of whole numbers above 0.
   * @throws {TypeError} If a dtype is unknown.
   */
  constructor(options: RolloutBufferOptions<F>) {
    refuseUnknown(
      options,
      ["numEnvs", "numSteps", "fields"],
      "a rollout buffer",
    );
    const { numEnvs, numSteps, fields } = options;
    checkCount("numEnvs", numEnvs);
    checkCount("numSteps", numSteps);
    this.numEnvs = numEnvs;
    this.numSteps = numSteps;
    this.#schema = makeSchema(fields);
    const rows = numEnvs * numSteps;
    this.#arrays = allocateRows(this.#schema.leaves, rows);
    this.#writers = this.#schema.leaves.map(({ size }, i) =>
      new StepWriter(this.#arrays[i], size, numSteps)
    );
    this.#data = nest(this.#schema, ({ index }) => this.#arrays[index]);
    this.#adding = { action: "add", rows: numEnvs };
  }

  /** Number of recorded steps. */
  get length(): number {
    return this.#length;
  }

  /** True if no further step fits in. */
  get full(): boolean {
    return this.#length === this.numSteps;
  }

  /**
   * Records a step of all streams; an invalid step changes nothing.
   *
   * @param step Numbers of each field `[env, ...shape]`; copied.
   * @throws {RangeError} If the buffer is full, an array's length is wrong, a field
   * of integers would hold another number than it is given, or there is no such
   * field.
   * @throws {TypeError} If a field is missing or nested otherwise.
   */
  add(step: { readonly [K in keyof F]: ValuesOf<F[K]> }): void {
    if (this.full) {
      throw new RangeError(
        `Cannot add a step to a full buffer: it holds ${this.#length} of ${this.numSteps} steps, clear() it first`,
      );
    }
    collect(
      this.#schema.root,
      step as FieldValues,
      this.#adding,
      this.#values,
    );
    for (let i = 0; i < this.#writers.length; i++) {
      this.#writers[i].write(this.#values[i], this.#length);
    }
    this.#length++;
  }

  /** Removes all steps. */
  clear(): void {
    this.#length = 0;
  }

  /**
   * Returns the numbers of a field without a copy: always the same arrays, which later
   * steps overwrite. Rows not recorded yet are undefined.
   *
   * @param field Its name.
   * @returns An array `[env, step, ...shape]`, or arrays nested as the field.
   * @throws {RangeError} If there is no such field.
   */
  data<K extends keyof F & string>(field: K): DataOf<F[K]> {
    if (Object.hasOwn(this.#data, field)) {
      return this.#data[field] as DataOf<F[K]>;
    }
    throw unknownField("read", this.#schema.root, field);
  }

  /**
   * Iterates over minibatches of the recorded rows, once in random order.
   *
   * @param random Random stream.
   * @param size Rows of each minibatch; the last one may be smaller.
   * @returns Rows `env * numSteps + step` of each minibatch.
   * @throws {RangeError} If the size is not of 1 to the number of rows.
   * @example
   * ```ts
   * import { RolloutBuffer } from "@bellman/buffers";
   * import { assertEquals } from "@std/assert";
   *
   * const fields = { x: { shape: [], dtype: "int32" } } as const;
   * const buffer = new RolloutBuffer({ numEnvs: 1, numSteps: 5, fields });
   * for (let step = 0; step < 5; step++) buffer.add({ x: [step * step] });
   *
   * const x = buffer.data("x");
   * const seen: number[] = [];
   * for (const rows of buffer.minibatches({ integer: (n) => n - 1 }, 2)) {
   *   for (const row of rows) seen.push(x[row]);
   * }
   * assertEquals(seen, [0, 1, 4, 9, 16]);
   * ```
   */
  minibatches(
    random: Pick<RandomSource, "integer">,
    size: number,
  ): Generator<Int32Array> {
    const rows = this.numEnvs * this.#length;
    if (!Number.isSafeInteger(size) || size < 1 || size > rows) {
      throw new RangeError(
        `Cannot make minibatches of ${size} rows as the buffer holds ${rows}`,
      );
    }
    const order = new Int32Array(rows);
    for (let i = 0; i < rows; i++) {
      const env = Math.floor(i / this.#length);
      order[i] = env * this.numSteps + i % this.#length;
    }
    shuffle(order, random);
    return slices(order, size);
  }

  /**
   * Saves all steps.
   *
   * @returns Plain data.
   */
  save(): RolloutBufferState {
    return {
      length: this.#length,
      fields: nest(this.#schema, ({ index }) => this.#arrays[index].slice()),
    };
  }

  /**
   * Restores a saved state, bit for bit.
   *
   * @param state Saved state of a buffer with the same sizes and fields; copied.
   * @throws {RangeError} If sizes or names differ.
   * @throws {TypeError} If it is not such a state.
   */
  load(state: RolloutBufferState): void {
    const length = state?.length;
    if (!(Number.isInteger(length) && length >= 0)) {
      throw foreignState(`a buffer of ${length} steps`);
    }
    if (length > this.numSteps) {
      throw new RangeError(
        `Cannot load ${length} steps into a buffer of ${this.numSteps}`,
      );
    }
    const rows = this.numEnvs * this.numSteps;
    const values: ArrayLike<number>[] = [];
    const check = { action: "load", rows };
    collect(this.#schema.root, state.fields, check, values);
    this.#arrays.forEach((array, i) => array.set(values[i]));
    this.#length = length;
  }
}

function* slices(order: Int32Array, size: number): Generator<Int32Array> {
  for (let start = 0; start < order.length; start += size) {
    yield order.subarray(start, start + size);
  }
}

/** Numbers of a row from which on a copy as a block is faster. */
const BLOCK_SIZE = 128;

/** Copies steps `[env, ...shape]` of one array field to rows apart. */
export class StepWriter {
  readonly #data: FieldArray;
  readonly #size: number;
  readonly #numSteps: number;
  readonly #numEnvs: number;
  /** The array that `#rows` are views of. */
  #source?: ArrayLike<number>;
  /** Rows of the last step that was written in blocks, `[env]`. */
  #rows: readonly FieldArray[] = [];

  constructor(data: FieldArray, size: number, numSteps: number) {
    this.#data = data;
    this.#size = size;
    this.#numSteps = numSteps;
    this.#numEnvs = data.length / (size * numSteps);
  }

  write(values: ArrayLike<number>, step: number): void {
    const data = this.#data, size = this.#size;
    const isBlock = size >= BLOCK_SIZE && ArrayBuffer.isView(values);
    if (isBlock) this.#viewRows(values as FieldArray);
    for (let env = 0; env < this.#numEnvs; env++) {
      const from = env * size;
      const to = (env * this.#numSteps + step) * size;
      if (isBlock) data.set(this.#rows[env], to);
      else for (let i = 0; i < size; i++) data[to + i] = values[from + i];
    }
  }

  /** Environments reuse their arrays, and then the views of rows serve again. */
  #viewRows(values: FieldArray): void {
    if (this.#source === values) return;
    const size = this.#size;
    this.#source = values;
    this.#rows = Array.from(
      { length: values.length / size },
      (_, env) => values.subarray(env * size, (env + 1) * size),
    );
  }
}

/**
 * Shuffles numbers uniformly (Fisher-Yates).
 *
 * @param numbers Numbers; shuffled in place.
 * @param random Random stream.
 *
 * @example
 * ```ts
 * import { shuffle } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * const order = Int32Array.of(0, 1, 2);
 * shuffle(order, { integer: () => 0 }); // always changes places with the first
 * assertEquals(order, Int32Array.of(1, 2, 0));
 * ```
 */
export function shuffle(
  numbers: Int32Array,
  random: Pick<RandomSource, "integer">,
): void {
  for (let last = numbers.length - 1; last > 0; last--) {
    const other = random.integer(last + 1);
    const kept = numbers[last];
    numbers[last] = numbers[other];
    numbers[other] = kept;
  }
}
