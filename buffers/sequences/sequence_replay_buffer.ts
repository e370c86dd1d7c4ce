import type { RandomSource, StateTree } from "@bellman/types";
import {
  allocateRows,
  ARRAYS,
  checkCount,
  checkWhole,
  collect,
  type Field,
  type FieldArray,
  type FieldData,
  type FieldValues,
  foreignState,
  type Group,
  type Leaf,
  makeSchema,
  nest,
  type Schema,
  unknownField,
} from "../fields.ts";
import type { Random, RowRange, Sampler } from "../samplers/sampler.ts";
import { SegmentFrames } from "./frame_stacks.ts";

/** Options of a {@linkcode SequenceReplayBuffer}. */
export interface SequenceReplayBufferOptions {
  /** Steps of each environment that fit in, in whole segments. */
  readonly capacity: number;
  /** Steps of a segment. */
  readonly numSteps: number;
  /**
   * Environments whose segments are added side by side.
   *
   * @default 1
   */
  readonly numEnvs?: number;
  /** Fields of each step, by name. */
  readonly fields: Readonly<Record<string, Field>>;
  /**
   * Steps that fields have more than `numSteps`, by name: 1 for observations with
   * the one after the last step.
   *
   * @default {}
   */
  readonly extraSteps?: Readonly<Record<string, number>>;
  /**
   * Fields that are recorded once for each segment, by name: the state of a
   * recurrent network before the first step.
   *
   * @default {}
   */
  readonly states?: Readonly<Record<string, Field>>;
  /**
   * Array fields that are drawn as stacks of frames, by path, with the frames of
   * a stack. They are added as single frames, `stack - 1` more than steps: those
   * before the first step come first. Drawn are stacks along the last axis,
   * oldest frame first, with zeros for frames of earlier episodes, as
   * {@linkcode decodeFrameStacks} gives.
   *
   * @default {}
   */
  readonly stack?: Readonly<Record<string, number>>;
  /**
   * Frames of stacks from before their episode's first: zeros, or the first one
   * again, as `FrameStack` of `@bellman/envs` makes them.
   *
   * @default "zero"
   */
  readonly padding?: "zero" | "reset";
  /**
   * Fields, a single number for each step, that are above 0 where an episode
   * ended with a step. Only stacks need them.
   *
   * @default ["terminated", "truncated"]
   */
  readonly ends?: readonly string[];
  /**
   * Choice of the segments of a batch, of all environments together, such as one
   * by priorities. Batches then have `weights`, a number for each segment.
   *
   * @default each environment's own, with equal probability
   */
  readonly sampler?: Sampler;
}

/**
 * Segments that a {@linkcode SequenceReplayBuffer} drew, by field: arrays
 * `[segment, step, ...shape]`, and `[segment, ...shape]` of states.
 */
export type SequenceBatch = {
  /** Numbers of the segments: `place * numEnvs + env`. */
  segments: Int32Array;
  [field: string]: FieldData;
};

/** State that a {@linkcode SequenceReplayBuffer} saves. */
export type SequenceReplayBufferState = {
  /** Places that hold segments, one for each environment. */
  length: number;
  /** The place that comes next. */
  next: number;
  /** The arrays of all fields, as far as they are filled. */
  fields: { [name: string]: FieldData };
  /** State of the sampler that was given, if one was. */
  sampler?: StateTree;
};

/**
 * Keeps whole segments of several environments for learners that go through
 * steps in order, such as ACER or recurrent networks; when it is full, the
 * oldest go.
 *
 * A segment has `numSteps` steps, and fields that are recorded once, such as the
 * state of a recurrent network before them. Frames that are stacked are kept once each.
 *
 * Source: `acer/buffer.py` of OpenAI's baselines.
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
export class SequenceReplayBuffer {
  /** Environments side by side. */
  readonly numEnvs: number;
  /** Steps of a segment. */
  readonly numSteps: number;
  /** Segments of each environment that fit in. */
  readonly capacity: number;
  readonly #schema: SegmentSchema;
  /** `[place, env, ...]` of each array field. */
  readonly #arrays: readonly FieldArray[];
  readonly #values: ArrayLike<number>[] = [];
  /** Of array fields that are drawn as stacks. */
  readonly #frames: readonly (SegmentFrames | undefined)[];
  readonly #sampler: Sampler | undefined;
  #length = 0;
  #next = 0;

  /**
   * Allocates the arrays of all fields.
   *
   * @param options Sizes and fields.
   * @throws {RangeError} If a size or a shape is not of whole numbers above 0, no
   * segment fits in, or there is no field that is to be longer or stacked.
   * @throws {TypeError} If a dtype is unknown, a name is used twice, or stacks
   * lack the fields that tell where episodes ended.
   */
  constructor(options: SequenceReplayBufferOptions) {
    const { capacity, numSteps, numEnvs = 1, padding, sampler } = options;
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
    this.#schema = segmentSchema(options);
    this.#arrays = allocateRows(
      this.#schema.kept.leaves,
      this.capacity * numEnvs,
    );
    this.#frames = this.#schema.leaves.map((it, i) =>
      it.stack > 0
        ? new SegmentFrames(this.#arrays[i], { ...it, padding })
        : undefined
    );
    this.#sampler = sampler;
    sampler?.resize?.(this.capacity * numEnvs);
  }

  /** Segments of each environment that it holds. */
  get length(): number {
    return this.#length;
  }

  /** Numbers of the newest segments, of each environment; none where it is empty. */
  get newest(): Int32Array {
    const place = (this.#next + this.capacity - 1) % this.capacity;
    const count = Math.min(1, this.#length) * this.numEnvs;
    return Int32Array.from(
      { length: count },
      (_, env) => place * this.numEnvs + env,
    );
  }

  /** Bytes of all its arrays. */
  get byteLength(): number {
    return this.#arrays.reduce((sum, array) => sum + array.byteLength, 0);
  }

  /**
   * Tells whether it holds so many steps of each environment, counted as the
   * original does: in whole segments, rounded down, but at least one.
   *
   * @param steps Steps of each environment.
   */
  hasAtLeast(steps: number): boolean {
    return this.#length >= Math.max(1, Math.floor(steps / this.numSteps));
  }

  /**
   * Records a segment of each environment; one that cannot be recorded changes
   * nothing.
   *
   * @param segment For each field its numbers `[env, step, ...shape]`, and
   * `[env, ...shape]` of what is recorded once; copied.
   * @throws {RangeError} If an array's length is wrong, a field of integers would hold
   * another number than it is given, or there is no such field.
   * @throws {TypeError} If a field is missing or nested otherwise.
   */
  add(segment: { readonly [field: string]: FieldValues }): void {
    const { root, leaves } = this.#schema.kept;
    const rows = this.numEnvs;
    collect(root, segment, { action: "add", rows }, this.#values);
    for (const { index, size } of leaves) {
      this.#arrays[index].set(this.#values[index], this.#next * rows * size);
    }
    const first = this.#next * rows;
    if (this.#length === this.capacity) this.#sampler?.removed(first, rows);
    this.#sampler?.added(first, rows);
    this.#next = (this.#next + 1) % this.capacity;
    this.#length = Math.min(this.#length + 1, this.capacity);
  }

  /**
   * Allocates arrays that segments can be drawn into again and again.
   *
   * @param size Number of segments.
   * @throws {RangeError} If it is not a whole number above 0.
   */
  batch(size: number = this.numEnvs): SequenceBatch {
    checkWhole(size, `make a batch of ${size} segments`);
    const fields = nest(
      this.#schema.drawn,
      (leaf) => new ARRAYS[leaf.dtype](size * leaf.size),
    );
    return {
      ...fields,
      segments: new Int32Array(size),
      ...(this.#sampler && { weights: new Float32Array(size) }),
    };
  }

  /**
   * Draws segments with replacement, the first of environment 0, the next of
   * environment 1, and so on in turn: each is any one of its environment's, with
   * equal probability. A sampler chooses among all segments instead.
   *
   * @param random Random stream.
   * @param options Number of segments, one of each environment by default, or
   * arrays of {@link batch} that take them.
   * @returns The segments, in the given arrays or new ones.
   * @throws {RangeError} If it holds no segment, or arrays do not fit.
   */
  sample(
    random: Pick<RandomSource, "integer"> & Partial<Random>,
    { size = this.numEnvs, into = this.batch(size) }: {
      readonly size?: number;
      readonly into?: SequenceBatch;
    } = {},
  ): SequenceBatch {
    const { segments } = into;
    if (this.#length === 0) {
      throw new RangeError(
        `Cannot sample ${segments.length} segments as the buffer holds none`,
      );
    }
    if (this.#sampler !== undefined) {
      const weights = into.weights as Float32Array;
      this.#sampler.draw({ slots: segments, weights }, {
        rows: this.#rows,
        random: random as Random,
      });
      return this.#fill(segments, into);
    }
    for (let i = 0; i < segments.length; i++) {
      const env = i % this.numEnvs;
      segments[i] = random.integer(this.#length) * this.numEnvs + env;
    }
    return this.gather(segments, into);
  }

  /** All segments that it holds, as a sampler counts them. */
  get #rows(): RowRange {
    const isFull = this.#length === this.capacity;
    return {
      first: isFull ? this.#next * this.numEnvs : 0,
      length: this.#length * this.numEnvs,
      capacity: this.capacity * this.numEnvs,
    };
  }

  /**
   * Reads segments by their numbers.
   *
   * @param segments Numbers `place * numEnvs + env`, where places are counted
   * from 0 and used again from 0 on when the buffer is full.
   * @param into Takes them; of {@link batch}, with as many segments.
   * @returns `into`.
   * @throws {RangeError} If it holds no such segment, or arrays do not fit.
   */
  gather(
    segments: ArrayLike<number>,
    into: SequenceBatch = this.batch(segments.length),
  ): SequenceBatch {
    this.#checkSegments(segments, into.segments);
    (this.#sampler && into.weights as Float32Array)?.fill(1);
    return this.#fill(segments, into);
  }

  #fill(segments: ArrayLike<number>, into: SequenceBatch): SequenceBatch {
    const { segments: numbers, ...fields } = into;
    if (this.#sampler !== undefined) delete fields.weights;
    const arrays: ArrayLike<number>[] = [];
    const rows = segments.length;
    collect(this.#schema.drawn.root, fields, { action: "read", rows }, arrays);
    numbers.set(segments);
    const isEnd = this.#isEnd.bind(this);
    for (let i = 0; i < arrays.length; i++) {
      const array = arrays[i] as FieldArray;
      const frames = this.#frames[i];
      if (frames) frames.read(segments, array, isEnd);
      else this.#read(i, segments, array);
    }
    return into;
  }

  #checkSegments(segments: ArrayLike<number>, numbers: Int32Array): void {
    if (segments.length !== numbers.length) {
      throw new RangeError(
        `Cannot read ${segments.length} segments into a batch of ${numbers.length}`,
      );
    }
    const held = this.#length * this.numEnvs;
    for (let i = 0; i < segments.length; i++) {
      const segment = segments[i];
      if (segment >= 0 && segment < held && Number.isInteger(segment)) continue;
      throw new RangeError(
        `Cannot read segment ${segment} as the buffer holds 0 to ${held - 1}`,
      );
    }
  }

  #read(
    index: number,
    segments: ArrayLike<number>,
    array: FieldArray,
  ): void {
    const data = this.#arrays[index];
    const { size } = this.#schema.kept.leaves[index];
    for (let row = 0; row < segments.length; row++) {
      const from = segments[row] * size;
      array.set(data.subarray(from, from + size), row * size);
    }
  }

  #isEnd(segment: number, step: number): boolean {
    const { ends, kept } = this.#schema;
    return ends.some((index) =>
      this.#arrays[index][segment * kept.leaves[index].size + step] > 0
    );
  }

  /** Forgets all segments. */
  clear(): void {
    this.#sampler?.removed(0, this.#length * this.numEnvs);
    this.#length = 0;
    this.#next = 0;
  }

  /**
   * Saves all segments.
   *
   * @returns Plain data, owned by the caller.
   */
  save(): SequenceReplayBufferState {
    const rows = this.#length * this.numEnvs;
    const fields = nest(
      this.#schema.kept,
      ({ index, size }) => this.#arrays[index].slice(0, rows * size),
    );
    return {
      length: this.#length,
      next: this.#next,
      fields,
      ...(this.#sampler && { sampler: this.#sampler.save() }),
    };
  }

  /**
   * Restores what {@link save} returned, bit for bit.
   *
   * @param state The state of a buffer with the same options; copied.
   * @throws {RangeError} If sizes or names differ.
   * @throws {TypeError} If it is not such a state.
   */
  load(state: SequenceReplayBufferState): void {
    checkPlaces(state, this.capacity);
    const values: ArrayLike<number>[] = [];
    const check = { action: "load", rows: state.length * this.numEnvs };
    collect(this.#schema.kept.root, state.fields, check, values);
    this.#sampler?.load(state.sampler ?? null);
    this.#arrays.forEach((array, i) => array.set(values[i]));
    this.#length = state.length;
    this.#next = state.next;
  }
}

/** Throws unless the places of a state fit in. */
function checkPlaces(state: SequenceReplayBufferState, capacity: number): void {
  const { length, next } = state ?? {};
  if (!(Number.isInteger(length) && length >= 0)) {
    throw foreignState(`a buffer of ${length} segments`);
  }
  if (length > capacity) {
    throw new RangeError(
      `Cannot load ${length} segments into a buffer of ${capacity}`,
    );
  }
  const isNext = length < capacity
    ? next === length
    : Number.isInteger(next) && next >= 0 && next < length;
  if (!isNext) {
    throw foreignState(`${length} segments with ${next} as the next`);
  }
}

/** One array field of a segment. */
interface SegmentLeaf {
  readonly leaf: Leaf;
  /** Steps that are drawn; 0 where it is recorded once. */
  readonly steps: number;
  /** Frames of a stack; 0 where there are no stacks. */
  readonly stack: number;
}

/** Fields of segments, as they are kept and as they are drawn. */
interface SegmentSchema {
  readonly kept: Schema;
  readonly drawn: Schema;
  readonly leaves: readonly SegmentLeaf[];
  /** Arrays by index that say where episodes ended; none without stacks. */
  readonly ends: readonly number[];
}

/** Throws where names or sizes do not go together. */
function segmentSchema(
  options: SequenceReplayBufferOptions,
): SegmentSchema {
  const { fields, states = {}, stack = {} } = options;
  const twice = Object.keys(states).find((name) => Object.hasOwn(fields, name));
  if (twice !== undefined) {
    throw new TypeError(
      `Cannot record '${twice}' in each step and once: expected another name`,
    );
  }
  const all = { ...fields, ...states };
  const reserved = ["segments", ...options.sampler ? ["weights"] : []]
    .find((name) => Object.hasOwn(all, name));
  if (reserved !== undefined) {
    throw new TypeError(
      `Cannot record a field as '${reserved}', which batches have: expected another name`,
    );
  }
  const schema = makeSchema(all);
  checkNames(schema, options);
  const leaves = schema.leaves.map((leaf): SegmentLeaf => {
    const name = leaf.path[0];
    if (Object.hasOwn(states, name)) return { leaf, steps: 0, stack: 0 };
    const steps = options.numSteps + extraSteps(options, name);
    if (!Object.hasOwn(stack, leaf.name)) return { leaf, steps, stack: 0 };
    checkWhole(stack[leaf.name], `stack ${stack[leaf.name]} frames`);
    return { leaf, steps, stack: stack[leaf.name] };
  });
  return {
    kept: withSizes(schema, leaves.map(keptSize)),
    drawn: withSizes(schema, leaves.map(drawnSize)),
    leaves,
    ends: leaves.some(({ stack }) => stack > 0)
      ? findEnds(leaves, options)
      : [],
  };
}

function checkNames(
  { root, leaves }: Schema,
  { extraSteps = {}, states = {}, stack = {} }: SequenceReplayBufferOptions,
): void {
  const perStep = (name: string) => !Object.hasOwn(states, name);
  const names = root.keys.filter(perStep);
  const paths = leaves.filter((leaf) => perStep(leaf.path[0]))
    .map(({ name }) => name);
  for (const name of Object.keys(extraSteps)) {
    if (names.includes(name)) continue;
    throw unknownField("lengthen", { ...root, keys: names }, name);
  }
  for (const path of Object.keys(stack)) {
    if (paths.includes(path)) continue;
    throw unknownField("stack", { ...root, keys: paths }, path);
  }
}

function extraSteps(
  { extraSteps = {} }: SequenceReplayBufferOptions,
  name: string,
): number {
  const extra = Object.hasOwn(extraSteps, name) ? extraSteps[name] : 0;
  if (Number.isSafeInteger(extra) && extra >= 0) return extra;
  throw new RangeError(
    `Cannot record ${extra} extra steps of '${name}': expected a whole number of at least 0`,
  );
}

function keptSize({ leaf, steps, stack }: SegmentLeaf): number {
  if (steps === 0) return leaf.size;
  return leaf.size * (stack === 0 ? steps : steps + stack - 1);
}

function drawnSize({ leaf, steps, stack }: SegmentLeaf): number {
  return leaf.size * Math.max(1, steps) * Math.max(1, stack);
}

function withSizes({ root, leaves }: Schema, sizes: number[]): Schema {
  const resized = leaves.map((leaf, i) => ({ ...leaf, size: sizes[i] }));
  return { root: withLeaves(root, resized), leaves: resized };
}

function withLeaves(group: Group, leaves: readonly Leaf[]): Group {
  const children = group.children.map((child) =>
    "dtype" in child ? leaves[child.index] : withLeaves(child, leaves)
  );
  return { ...group, children };
}

/** Throws unless episodes' ends are known between all frames of a stack. */
function findEnds(
  leaves: readonly SegmentLeaf[],
  { ends = ["terminated", "truncated"] }: SequenceReplayBufferOptions,
): number[] {
  const steps = leaves.map(({ stack, steps }) => stack > 0 ? steps - 1 : 0)
    .reduce((most, steps) => Math.max(most, steps));
  return ends.map((name) => {
    const found = leaves.find(({ leaf }) => leaf.name === name);
    if (
      found && found.steps >= steps && found.leaf.size === 1 &&
      found.stack === 0
    ) return found.leaf.index;
    throw new TypeError(
      `Cannot stack frames without a number for each of ${steps} steps as '${name}': expected such a field, or other names as 'ends'`,
    );
  });
}
