import type { RandomSource } from "@bellman/types";
import { unitsOf } from "../copy.ts";
import {
  ARRAYS,
  checkCount,
  checkWhole,
  collect,
  type DataOf,
  type Field,
  type FieldArray,
  type FieldData,
  type Fields,
  type FieldValues,
  nest,
  type ValuesOf,
} from "../fields.ts";
import type { ReplayBufferState, Rows } from "../replay/options.ts";
import {
  internals,
  ReplayBuffer,
  type ReplayMemory,
} from "../replay/replay_buffer.ts";
import {
  type Random,
  type Sampler,
  UniformSampler,
} from "../samplers/sampler.ts";
import {
  type SegmentSchema,
  segmentSchema,
  type SequenceReplayBufferOptions,
} from "./_segment_schema.ts";
import { SegmentFrames } from "./frame_stacks.ts";

export type { SequenceReplayBufferOptions };

/**
 * Batch of segments by field: arrays `[segment, step, ...shape]`, and `[segment,
 * ...shape]` for fields recorded once.
 *
 * @typeParam F Fields of a step.
 * @typeParam S Fields that are recorded once for each segment.
 */
export type SequenceBatch<
  F extends Fields = Fields,
  S extends Fields = Record<never, Field>,
> =
  & {
    /** Numbers of the segments: `place * numEnvs + env`. */
    segments: Int32Array;
  }
  & (string extends keyof F ? { [field: string]: FieldData }
    :
      & { -readonly [K in keyof F]: DataOf<F[K]> }
      & { -readonly [K in keyof S]: DataOf<S[K]> }
      & {
        /** Importance weights, where there is a sampler. */
        weights?: Float32Array;
      });

/** Saved state of a {@linkcode SequenceReplayBuffer}: each row is a segment. */
export type SequenceReplayBufferState = ReplayBufferState;

/**
 * Replay buffer of whole segments, for learners that need consecutive steps, such as
 * ACER or recurrent networks; the oldest segments are replaced.
 *
 * A segment has `numSteps` steps, and fields that are recorded once, such as the
 * recurrent state before them. Stacked frames are stored once each.
 *
 * Source: `acer/buffer.py` of OpenAI's baselines.
 *
 * @typeParam F Fields of a step.
 * @typeParam S Fields that are recorded once for each segment.
 *
 * @example
 * ```ts
 * import { SequenceReplayBuffer } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * const buffer = new SequenceReplayBuffer({
 *   capacity: 4,
 *   numSteps: 2,
 *   numEnvs: 2,
 *   fields: {
 *     observation: { shape: [], dtype: "float32" },
 *     action: { shape: [], dtype: "int32" },
 *   },
 *   extraSteps: { observation: 1 },
 *   states: { memory: { shape: [1], dtype: "float32" } },
 * });
 * buffer.add({
 *   observation: [0, 1, 2, 10, 11, 12],
 *   action: [3, 4, 13, 14],
 *   memory: [0.5, -0.5],
 * });
 * const batch = buffer.sample({ integer: () => 0 });
 * assertEquals(batch.action, Int32Array.of(3, 4, 13, 14));
 * assertEquals(batch.memory, Float32Array.of(0.5, -0.5));
 * ```
 */
export class SequenceReplayBuffer<
  const F extends Fields = Fields,
  const S extends Fields = Record<never, Field>,
> {
  /** Number of environments. */
  readonly numEnvs: number;
  /** Number of steps of a segment. */
  readonly numSteps: number;
  /** Capacity in segments of each environment. */
  readonly capacity: number;
  readonly #schema: SegmentSchema;
  /** Segments, each of which is a row: `[place, env, ...]`. */
  readonly #buffer: ReplayBuffer;
  readonly #memory: ReplayMemory;
  /** Of array fields that are drawn as stacks. */
  readonly #frames: readonly (SegmentFrames | undefined)[];
  /** Segments of a batch as a file holds them, by array field. */
  readonly #read: FieldArray[] = [];
  readonly #padding: "zero" | "reset" | undefined;
  readonly #sampler: Sampler;
  /** True where a sampler chooses among all segments. */
  readonly #isSampled: boolean;

  /**
   * Allocates the arrays of all fields.
   *
   * @param options Sizes and fields.
   * @throws {RangeError} If a size or a shape is not of whole numbers above 0, no
   * segment fits in, or there is no field that is to be longer or stacked.
   * @throws {TypeError} If a dtype is unknown, a name is used twice, or stacks
   * lack the fields that tell where episodes ended.
   */
  constructor(options: SequenceReplayBufferOptions<F, S>) {
    this.#schema = segmentSchema(options);
    const { capacity, numSteps, numEnvs = 1, storage } = options;
    checkCount("numSteps", numSteps);
    checkCount("numEnvs", numEnvs);
    if (!(Number.isSafeInteger(capacity) && capacity >= numSteps)) {
      throw new RangeError(
        `Cannot make a buffer of ${capacity} steps: expected a whole number that a segment of ${numSteps} fits in`,
      );
    }
    this.numSteps = numSteps;
    this.numEnvs = numEnvs;
    this.capacity = Math.floor(capacity / numSteps);
    this.#isSampled = options.sampler !== undefined;
    this.#sampler = options.sampler ?? new UniformSampler();
    const fields = nest(
      this.#schema.kept,
      ({ size, dtype }): Field => ({ shape: [size], dtype }),
    ) as Fields;
    this.#buffer = new ReplayBuffer({
      capacity: this.capacity * numEnvs,
      numEnvs,
      fields,
      sampler: this.#sampler,
      storage,
    });
    this.#memory = internals.get(this.#buffer)!;
    this.#padding = options.padding;
    this.#frames = this.#memory.rows.map(({ data }, i) =>
      data && this.#stackerOf(i, data)
    );
  }

  /** Returns what stacks the frames of a field in segments one after the other. */
  #stackerOf(index: number, data: FieldArray): SegmentFrames | undefined {
    const leaf = this.#schema.leaves[index], padding = this.#padding;
    return leaf.stack > 0
      ? new SegmentFrames(data, { ...leaf, padding })
      : undefined;
  }

  /** Number of segments of each environment. */
  get length(): number {
    return this.#buffer.length / this.numEnvs;
  }

  /** Numbers of the latest segments, one for each environment; empty if there are none. */
  get newest(): Int32Array {
    const { ring } = this.#memory, count = Math.min(ring.length, this.numEnvs);
    return Int32Array.from(
      { length: count },
      (_, env) => ring.slotAt(ring.length - count + env),
    );
  }

  /** Bytes of memory of its arrays. */
  get byteLength(): number {
    return this.#buffer.byteLength;
  }

  /**
   * Returns true if it holds so many steps of each environment, counted as in the
   * original: in whole segments, rounded down, at least one.
   *
   * @param steps Steps of each environment.
   */
  hasAtLeast(steps: number): boolean {
    return this.length >= Math.max(1, Math.floor(steps / this.numSteps));
  }

  /**
   * Adds a segment of each environment; an invalid one changes nothing.
   *
   * @param segment Numbers of each field `[env, step, ...shape]`, or `[env, ...shape]`
   * if recorded once; copied.
   * @throws {RangeError} If an array's length is wrong, a field of integers would hold
   * another number than it is given, or there is no such field.
   * @throws {TypeError} If a field is missing or nested otherwise.
   */
  add(segment: Rows<F> & { readonly [K in keyof S]: ValuesOf<S[K]> }): void {
    this.#buffer.add(segment as Record<string, FieldValues>);
  }

  /**
   * Allocates a batch for reuse.
   *
   * @param size Number of segments.
   * @throws {RangeError} If it is not a whole number above 0.
   */
  batch(size: number = this.numEnvs): SequenceBatch<F, S> {
    checkWhole(size, `make a batch of ${size} segments`);
    const fields = nest(
      this.#schema.drawn,
      (leaf) => new ARRAYS[leaf.dtype](size * leaf.size),
    );
    return {
      ...fields,
      segments: new Int32Array(size),
      ...(this.#isSampled && { weights: new Float32Array(size) }),
    } as SequenceBatch<F, S>;
  }

  /**
   * Samples segments with replacement, in turn from environment 0, 1 and so on,
   * uniformly for each. A sampler chooses among all segments instead.
   *
   * @param random Random stream.
   * @param options Number of segments, by default one of each environment, or a batch
   * to reuse.
   * @returns The segments, in the reused or a new batch.
   * @throws {RangeError} If it holds no segment, or arrays do not fit.
   */
  sample(
    random: Pick<RandomSource, "integer"> & Partial<Random>,
    { size = this.numEnvs, into = this.batch(size) }: {
      readonly size?: number;
      readonly into?: SequenceBatch<F, S>;
    } = {},
  ): SequenceBatch<F, S> {
    const { segments } = into, { length } = this;
    if (length === 0) {
      throw new RangeError(
        `Cannot sample ${segments.length} segments as the buffer holds none`,
      );
    }
    if (this.#isSampled) {
      const weights = into.weights as Float32Array;
      this.#sampler.draw({ slots: segments, weights }, {
        rows: this.#memory.ring,
        random: random as Random,
      });
      return this.#fill(segments, into);
    }
    for (let i = 0; i < segments.length; i++) {
      const env = i % this.numEnvs;
      segments[i] = random.integer(length) * this.numEnvs + env;
    }
    return this.gather(segments, into);
  }

  /**
   * Reads segments by their numbers.
   *
   * @param segments Numbers `place * numEnvs + env`, where places are counted
   * from 0 and used again from 0 on when the buffer is full.
   * @param into Batch to fill, with as many segments.
   * @returns `into`.
   * @throws {RangeError} If it holds no such segment, or arrays do not fit.
   */
  gather(
    segments: ArrayLike<number>,
    into: SequenceBatch<F, S> = this.batch(segments.length),
  ): SequenceBatch<F, S> {
    this.#checkSegments(segments, into.segments);
    if (this.#isSampled) (into.weights as Float32Array).fill(1);
    return this.#fill(segments, into);
  }

  #fill(
    segments: ArrayLike<number>,
    into: SequenceBatch<F, S>,
  ): SequenceBatch<F, S> {
    const { segments: numbers, ...fields } = into as SequenceBatch;
    if (this.#isSampled) delete fields.weights;
    const arrays: ArrayLike<number>[] = [];
    const rows = segments.length;
    collect(this.#schema.drawn.root, fields, { action: "read", rows }, arrays);
    numbers.set(segments);
    const inMemory = !this.#memory.isPersistent;
    const sources = inMemory ? arrays : this.#sourcesOf(arrays, rows);
    this.#gather(numbers, sources as FieldArray[]);
    /** Ends lie in the batch itself. */
    const isEnd = (row: number, step: number) =>
      this.#schema.ends.some((index) => {
        const { size } = this.#schema.drawn.leaves[index];
        return arrays[index][row * size + step] > 0;
      });
    for (let i = 0; i < arrays.length; i++) {
      const array = arrays[i] as FieldArray;
      if (inMemory) this.#frames[i]?.read(numbers, array, isEnd);
      else if (this.#schema.leaves[i].stack > 0) {
        const own = Int32Array.from(numbers, (_, row) => row);
        this.#stackerOf(i, this.#read[i])!.read(own, array, isEnd);
      }
    }
    return into;
  }

  /** Returns arrays that take what a file holds: those of the batch, but for frames. */
  #sourcesOf(arrays: ArrayLike<number>[], rows: number): ArrayLike<number>[] {
    return arrays.map((array, i) => {
      if (this.#schema.leaves[i].stack === 0) return array;
      const { dtype, size } = this.#schema.kept.leaves[i];
      if (this.#read[i]?.length !== rows * size) {
        this.#read[i] = new ARRAYS[dtype](rows * size);
      }
      return this.#read[i];
    });
  }

  /** Copies segments to arrays; from memory all but frames. */
  #gather(segments: Int32Array, arrays: readonly FieldArray[]): void {
    if (!this.#memory.isPersistent) {
      this.#memory.rows.forEach((rows, i) => {
        if (this.#frames[i] !== undefined) return;
        rows.gather(segments, arrays[i], unitsOf(arrays[i]));
      });
      return;
    }
    for (let i = 0; i < segments.length; i++) {
      this.#memory.rows.forEach(({ column, leaf }, k) =>
        column.read(segments[i], arrays[k], i * leaf.size)
      );
    }
  }

  #checkSegments(segments: ArrayLike<number>, numbers: Int32Array): void {
    if (segments.length !== numbers.length) {
      throw new RangeError(
        `Cannot read ${segments.length} segments into a batch of ${numbers.length}`,
      );
    }
    const held = this.#buffer.length;
    for (let i = 0; i < segments.length; i++) {
      const segment = segments[i];
      if (segment >= 0 && segment < held && Number.isInteger(segment)) continue;
      throw new RangeError(
        `Cannot read segment ${segment} as the buffer holds 0 to ${held - 1}`,
      );
    }
  }

  /** Removes all segments. */
  clear(): void {
    this.#buffer.clear();
  }

  /**
   * Saves all segments. Those in a file are flushed to disk and left out.
   *
   * @returns Plain data.
   */
  save(): SequenceReplayBufferState {
    return this.#buffer.save();
  }

  /**
   * Restores a saved state, bit for bit.
   *
   * @param state Saved state of a buffer with the same options; copied.
   * @throws {RangeError} If sizes or names differ.
   * @throws {TypeError} If it is not such a state.
   * @throws {SyntaxError} If its segments in a file are damaged, or were
   * overwritten.
   */
  load(state: SequenceReplayBufferState): void {
    this.#buffer.load(state);
  }
}
