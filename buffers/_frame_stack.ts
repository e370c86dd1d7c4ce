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

/**
 * Puts four frames of single bytes together, four pixels at a time: one word
 * of each frame becomes four words of a pixel each. Frames begin at bytes, the
 * stack at a word.
 */
export function stackFourBytes(
  source: Int32Array,
  starts: Float64Array,
  target: Int32Array,
  { to, words }: { to: number; words: number },
): void {
  const from0 = (starts[0] / 4) | 0, from1 = (starts[1] / 4) | 0;
  const from2 = (starts[2] / 4) | 0, from3 = (starts[3] / 4) | 0;
  for (let i = 0; i < words; i++, to += 4) {
    const a = source[from0 + i], b = source[from1 + i];
    const c = source[from2 + i], d = source[from3 + i];
    // Pixels 0 and 2, then 1 and 3, of two frames each.
    const ab02 = (a & 0x00ff00ff) | ((b & 0x00ff00ff) << 8);
    const ab13 = ((a >>> 8) & 0x00ff00ff) | (b & 0xff00ff00);
    const cd02 = (c & 0x00ff00ff) | ((d & 0x00ff00ff) << 8);
    const cd13 = ((c >>> 8) & 0x00ff00ff) | (d & 0xff00ff00);
    target[to] = (ab02 & 0xffff) | (cd02 << 16);
    target[to + 1] = (ab13 & 0xffff) | (cd13 << 16);
    target[to + 2] = (ab02 >>> 16) | (cd02 & 0xffff0000);
    target[to + 3] = (ab13 >>> 16) | (cd13 & 0xffff0000);
  }
}
