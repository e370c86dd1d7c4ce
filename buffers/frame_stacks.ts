import { allocateArray, dtypeOf } from "./_arrays.ts";
import { checkStack, SegmentFrames } from "./_segment_frames.ts";
import type { FieldArray } from "./field.ts";

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
