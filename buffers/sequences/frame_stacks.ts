import { unitsOf } from "../copy.ts";
import {
  ARRAYS,
  checkWhole,
  dtypeOf,
  type FieldArray,
  type Leaf,
} from "../fields.ts";
import { FieldRows, ZEROS } from "../replay/rows.ts";
import { Stacker } from "../replay/stacker.ts";
import { MemoryColumn } from "../storage/memory_storage.ts";

/** Sizes for {@linkcode decodeFrameStacks}. */
export interface FrameStacksOptions {
  /** Shape of a frame; frames are stacked along its last axis. */
  readonly shape: readonly number[];
  /** Number of frames in a stack. */
  readonly stack: number;
  /** Number of steps of each stream; there is one more stack. */
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
  checkWhole(stack, `stack ${stack} frames`);
  const size = shape.reduce((product, length) => product * length, 1);
  const streams = ends.length / numSteps;
  const taken = (numSteps + stack) * size;
  checkLengths(frames.length, ends.length, { taken, numSteps });
  const dtype = dtypeOf(frames);
  const leaf = { index: 0, path: ["frame"], name: "frame", shape, dtype, size };
  const steps = numSteps + 1;
  const stacks = new ARRAYS[dtype](streams * steps * stack * size) as T;
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

/** Frames of a segment, and their stacks. */
interface SegmentFramesOptions {
  /** A frame. */
  readonly leaf: Leaf;
  /** Frames of a stack. */
  readonly stack: number;
  /** Stacks of a segment; it has `stack - 1` frames more. */
  readonly steps: number;
  /**
   * Frames from before an episode's first: zeros, or the first one again.
   *
   * @default "zero"
   */
  readonly padding?: "zero" | "reset";
}

/** Stacks the frames of segments that lie one after the other in an array. */
export class SegmentFrames {
  readonly #options: SegmentFramesOptions;
  readonly #stacker: Stacker;
  /** Rows of the frames of each stack, `[segment, step, frame]`. */
  #stacks = new Int32Array(0);

  constructor(data: FieldArray, options: SegmentFramesOptions) {
    const { leaf, stack } = options;
    const rows = new FieldRows(leaf, new MemoryColumn(leaf, data));
    this.#options = options;
    this.#stacker = new Stacker(rows, stack);
  }

  /**
   * Writes the stacks of segments. The frames before a segment's first step all
   * count; from the end of an episode on the frames before it do not: those of
   * row `i`, of segment `segments[i]`, are told by `isEnd(i, step)`.
   */
  read(
    segments: ArrayLike<number>,
    array: FieldArray,
    isEnd: (row: number, step: number) => boolean,
  ): void {
    const { stack, steps, padding } = this.#options;
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
          known = isEnd(i, step - 1) ? 1 : Math.min(stack, known + 1);
        }
        const at = i * size + step * stack;
        const oldest = stack - known;
        for (let frame = 0; frame < stack; frame++) {
          const isKnown = frame >= oldest || padding === "reset";
          stacks[at + frame] = isKnown
            ? first + step + Math.max(frame, oldest)
            : ZEROS;
        }
      }
    }
    const target = { array, units: unitsOf(array) };
    this.#stacker.gather([{ rows: stacks, target }]);
  }
}
