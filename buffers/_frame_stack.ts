import type { Units } from "./_copy_rows.ts";
import { type Episodes, ZEROS } from "./_episodes.ts";

/** How stacks look back. */
export interface LookBack {
  /** Frames of a stack. */
  readonly frames: number;
  /** Whether zeros stand before an episode's first frame, or that frame. */
  readonly zeroPadding: boolean;
}

/** Finds the rows of each stack that ends with a row, `[row, frame]`. */
export function findFrames(
  episodes: Episodes,
  slots: Int32Array,
  { frames, zeroPadding }: LookBack,
  stacks: Int32Array,
): void {
  const { terminated, truncated } = episodes;
  for (let i = 0; i < slots.length; i++) {
    const ring = episodes.ringOf(slots[i]);
    const end = (i + 1) * frames;
    let slot = slots[i], isFirst = false;
    stacks[end - 1] = slot;
    for (let at = end - 2; at >= end - frames; at--) {
      if (!isFirst) {
        const before = ring.before(slot);
        isFirst = ring.isVeryFirst(slot) ||
          (terminated[before] | truncated[before]) !== 0;
        if (!isFirst) slot = before;
      }
      stacks[at] = isFirst && zeroPadding ? ZEROS : slot;
    }
  }
}

/** Stacks that have lost their oldest frame and end with what is next. */
export function shiftFrames(
  stacks: Int32Array,
  next: Int32Array,
  shifted: Int32Array,
): void {
  const frames = stacks.length / next.length;
  for (let i = 0; i < next.length; i++) {
    const start = i * frames, last = start + frames - 1;
    for (let at = start; at < last; at++) shifted[at] = stacks[at + 1];
    shifted[last] = next[i];
  }
}

/** How a stack is put together, in units. */
export interface StackShape {
  readonly frames: number;
  /** Places of a frame that its channels lie together at. */
  readonly pixels: number;
  /** Units of a pixel. */
  readonly channels: number;
}

/** Units of a pixel from which on a copy as a block is faster. */
const BLOCK_UNITS = 128;

/**
 * Puts frames together along their last axis: each begins at one of the starts,
 * the stack at `to`.
 */
export function stackFrames(
  source: Units,
  starts: Float64Array,
  target: Units,
  { to, shape }: { to: number; shape: StackShape },
): void {
  const { frames, channels } = shape;
  for (let frame = 0; frame < frames; frame++) {
    const first = to + frame * channels, from = starts[frame];
    if (channels >= BLOCK_UNITS) {
      spreadBlocks(source, from, target, first, shape);
    } else if (source instanceof Uint8Array) {
      spreadBytes(source, from, target as Uint8Array, first, shape);
    } else spreadWords(source, from, target as Int32Array, first, shape);
  }
}

function spreadBlocks(
  source: Units,
  from: number,
  target: Units,
  to: number,
  { frames, pixels, channels }: StackShape,
): void {
  for (let p = 0; p < pixels; p++) {
    target.set(source.subarray(from, from + channels), to);
    from += channels;
    to += frames * channels;
  }
}

function spreadBytes(
  source: Uint8Array,
  from: number,
  target: Uint8Array,
  to: number,
  { frames, pixels, channels }: StackShape,
): void {
  const skip = (frames - 1) * channels;
  for (let p = 0; p < pixels; p++, to += skip) {
    for (let c = 0; c < channels; c++) target[to++] = source[from++];
  }
}

function spreadWords(
  source: Int32Array,
  from: number,
  target: Int32Array,
  to: number,
  { frames, pixels, channels }: StackShape,
): void {
  const skip = (frames - 1) * channels;
  for (let p = 0; p < pixels; p++, to += skip) {
    for (let c = 0; c < channels; c++) target[to++] = source[from++];
  }
}
