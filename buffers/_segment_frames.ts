import { unitsOf } from "./_copy_rows.ts";
import { ZEROS } from "./_episodes.ts";
import { LeafRows } from "./_leaf_rows.ts";
import { MemoryColumn } from "./_memory_column.ts";
import type { Leaf } from "./_schema.ts";
import { Stacker } from "./_stacker.ts";
import type { FieldArray } from "./field.ts";

/** How the frames of a segment are stacked. */
export interface SegmentFramesOptions {
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
    const rows = new LeafRows(leaf, new MemoryColumn(leaf, data.buffer));
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
export function checkStack(stack: number): void {
  if (Number.isSafeInteger(stack) && stack > 0) return;
  throw new RangeError(
    `Cannot stack ${stack} frames: expected a whole number above 0`,
  );
}
