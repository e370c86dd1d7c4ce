import {
  allocateArray,
  collect,
  dtypeOf,
  type FieldArray,
  type Group,
  type Leaf,
  makeSchema,
  type Schema,
  unknownField,
} from "../fields.ts";
import { unitsOf } from "../copy.ts";
import { ZEROS } from "../replay/episodes.ts";
import { FieldRows } from "../replay/columns.ts";
import { MemoryColumn } from "../storage/memory_storage.ts";
import { Stacker } from "../replay/stacks.ts";
import type {
  SequenceReplayBufferOptions,
  SequenceReplayBufferState,
} from "./sequence_replay_buffer.ts";

/** What the frames of {@linkcode decodeFrameStacks} are. */
export interface FrameStacksOptions {
  /** Shape of a frame; stacks grow along its last axis. */
  readonly shape: readonly number[];
  /** Frames of a stack. */
  readonly stack: number;
  /** Steps of each stream; there is one stack more than that. */
  readonly numSteps: number;
}

/**
 * Makes the stacks of frames that an agent saw from the frames, each of which is
 * kept once: `stack - 1` frames from before the first step, the one of each step,
 * and the one after the last step. Frames of an earlier episode are zeros in a
 * stack.
 *
 * Source: `_stack_obs` of `acer/buffer.py` in OpenAI's baselines.
 *
 * @param frames Frames `[stream, numSteps + stack, ...shape]`.
 * @param ends Above 0 where an episode ended with a step, `[stream, numSteps]`.
 * @param options Sizes.
 * @returns Stacks `[stream, numSteps + 1, ...shape]` whose last axis has grown by
 * a factor of `stack`, oldest frame first; an array of the same kind.
 * @throws {RangeError} If the lengths do not fit each other, or a stack has no
 * frame.
 *
 * @example
 * ```ts
 * import { decodeFrameStacks } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * const frames = Uint8Array.of(1, 2, 3, 4);
 * const stacks = decodeFrameStacks(frames, [0, 1], {
 *   shape: [1],
 *   stack: 2,
 *   numSteps: 2,
 * });
 * assertEquals(stacks, Uint8Array.of(1, 2, 2, 3, 0, 4));
 * ```
 */
export function decodeFrameStacks<T extends FieldArray>(
  frames: T,
  ends: ArrayLike<number>,
  { shape, stack, numSteps }: FrameStacksOptions,
): T {
  checkStack(stack);
  const size = shape.reduce((product, length) => product * length, 1);
  const streams = ends.length / numSteps;
  const taken = (numSteps + stack) * size;
  checkLengths(frames.length, ends.length, { taken, numSteps });
  const dtype = dtypeOf(frames);
  const leaf = { index: 0, path: ["frame"], name: "frame", shape, dtype, size };
  const steps = numSteps + 1;
  const stacks = allocateArray(dtype, streams * steps * stack * size) as T;
  new SegmentFrames(frames.slice(), { leaf, stack, steps }).read(
    Array.from({ length: streams }, (_, stream) => stream),
    stacks,
    (stream, step) => ends[stream * numSteps + step] > 0,
  );
  return stacks;
}

function checkLengths(
  frames: number,
  ends: number,
  { taken, numSteps }: { taken: number; numSteps: number },
): void {
  const streams = ends / numSteps;
  if (Number.isInteger(streams) && frames === streams * taken) return;
  throw new RangeError(
    `Cannot stack the frames of ${ends} steps from ${frames} numbers: expected ${taken} for each ${numSteps} steps`,
  );
}

/** How the frames of a segment are stacked. */
interface SegmentFramesOptions {
  /** A frame. */
  readonly leaf: Leaf;
  /** Frames of a stack. */
  readonly stack: number;
  /** Stacks of a segment; it has `stack - 1` frames more. */
  readonly steps: number;
}

/** Stacks the frames of segments that lie one after the other in an array. */
export class SegmentFrames {
  readonly #options: SegmentFramesOptions;
  readonly #stacker: Stacker;
  /** Rows of the frames of each stack, `[segment, step, frame]`. */
  #stacks = new Int32Array(0);

  constructor(data: FieldArray, options: SegmentFramesOptions) {
    const { leaf, stack } = options;
    const rows = new FieldRows(leaf, new MemoryColumn(leaf, data.buffer));
    this.#options = options;
    this.#stacker = new Stacker(rows, stack);
  }

  /**
   * Writes the stacks of segments. The frames before a segment's first step all
   * count; from the end of an episode on the frames before it are zeros.
   */
  read(
    segments: ArrayLike<number>,
    array: FieldArray,
    isEnd: (segment: number, step: number) => boolean,
  ): void {
    const { stack, steps } = this.#options;
    const size = steps * stack;
    if (this.#stacks.length !== segments.length * size) {
      this.#stacks = new Int32Array(segments.length * size);
    }
    const stacks = this.#stacks;
    for (let i = 0; i < segments.length; i++) {
      const first = segments[i] * (steps + stack - 1);
      let known = stack;
      for (let step = 0; step < steps; step++) {
        if (step > 0) {
          known = isEnd(segments[i], step - 1) ? 1 : Math.min(stack, known + 1);
        }
        const at = i * size + step * stack;
        for (let frame = 0; frame < stack; frame++) {
          const isKnown = frame >= stack - known;
          stacks[at + frame] = isKnown ? first + step + frame : ZEROS;
        }
      }
    }
    const target = { array, units: unitsOf(array) };
    this.#stacker.gather([{ rows: stacks, target }]);
  }
}

/** Throws unless a stack has a whole number of frames above 0. */
function checkStack(stack: number): void {
  if (Number.isSafeInteger(stack) && stack > 0) return;
  throw new RangeError(
    `Cannot stack ${stack} frames: expected a whole number above 0`,
  );
}

/** One array field of a segment. */
interface SegmentLeaf {
  readonly leaf: Leaf;
  /** Steps that are drawn: 0 for what is recorded once. */
  readonly steps: number;
  /** Frames of a stack; 0 where there are no stacks. */
  readonly stack: number;
}

/** What segments are, as they are kept and as they are drawn. */
export interface SegmentSchema {
  readonly kept: Schema;
  readonly drawn: Schema;
  readonly leaves: readonly SegmentLeaf[];
  /** Arrays by index that say where episodes ended; none without stacks. */
  readonly ends: readonly number[];
}

/** Throws where names or sizes do not go together. */
export function segmentSchema(
  options: SequenceReplayBufferOptions,
): SegmentSchema {
  const { fields, states = {}, stack = {} } = options;
  const twice = Object.keys(states).find((name) => Object.hasOwn(fields, name));
  if (twice !== undefined) {
    throw new TypeError(
      `Cannot record '${twice}' in each step and once: expected another name`,
    );
  }
  const schema = makeSchema({ ...fields, ...states });
  checkNames(schema, options);
  const leaves = schema.leaves.map((leaf): SegmentLeaf => {
    const name = leaf.path[0];
    if (Object.hasOwn(states, name)) return { leaf, steps: 0, stack: 0 };
    const steps = options.numSteps + extraSteps(options, name);
    if (!Object.hasOwn(stack, leaf.name)) return { leaf, steps, stack: 0 };
    checkStack(stack[leaf.name]);
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

/** What a saved buffer of segments must fit. */
interface SegmentSizes {
  /** Segments of each environment that fit in. */
  readonly capacity: number;
  readonly numEnvs: number;
  /** Fields of a segment. */
  readonly kept: Schema;
}

/** The arrays of a saved buffer's fields; throws unless it fits. */
export function checkSegmentState(
  state: SequenceReplayBufferState,
  { capacity, numEnvs, kept }: SegmentSizes,
): ArrayLike<number>[] {
  const { length, next } = state ?? {};
  if (!(Number.isInteger(length) && length >= 0)) {
    throw new TypeError(
      `Cannot load a buffer of ${length} segments: expected what save() gave`,
    );
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
    throw new TypeError(
      `Cannot load ${length} segments with ${next} as the next: expected what save() gave`,
    );
  }
  const values: ArrayLike<number>[] = [];
  const check = { action: "load", rows: length * numEnvs };
  collect(kept.root, state.fields, check, values);
  return values;
}
