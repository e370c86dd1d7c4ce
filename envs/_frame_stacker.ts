import type { BoxArray, BoxSpace, Space, StateTree } from "@bellman/types";
import { allocateArray, boundAt, elementCount } from "./space_arrays.ts";
import { box } from "./space_constructors.ts";

/** Settings of the frame stacks. */
export interface FrameStackOptions {
  /**
   * Observations in a stack.
   *
   * @default 4
   */
  size?: number;
  /**
   * What stands before an episode's first observation: that observation itself
   * or zeros.
   *
   * @default "reset"
   */
  padding?: "reset" | "zero";
  /**
   * Along which axis observations are stacked: the last one becomes `size` times
   * as long, or a new one of that length comes first. Along a new first axis the
   * stacks of a single environment share their frames: each is kept once.
   *
   * @default "last"
   */
  axis?: "first" | "last";
}

/** Each element's bound, repeated for every frame along the last axis. */
function repeatBound(
  bound: number | readonly number[],
  { size, channels }: { size: number; channels: number },
): number | number[] {
  if (typeof bound === "number") return bound;
  const all: number[] = [];
  for (let at = 0; at < bound.length; at += channels) {
    for (let frame = 0; frame < size; frame++) {
      for (let c = 0; c < channels; c++) all.push(boundAt(bound, at + c));
    }
  }
  return all;
}

/** Throws unless an option is one of the words that it may be. */
function checkChoice(
  name: string,
  value: string,
  choices: readonly string[],
): void {
  if (choices.includes(value)) return;
  throw new RangeError(
    `Cannot stack observations with ${name} '${value}': expected ${
      choices.map((it) => `'${it}'`).join(" or ")
    }`,
  );
}

/** Stacks that were saved, if they are as long as those that are to go on. */
export function checkStacks(saved: StateTree, own: BoxArray): BoxArray {
  const stacks = saved as BoxArray;
  if (ArrayBuffer.isView(saved) && saved.length === own.length) return stacks;
  throw new RangeError(
    `Cannot restore stacks of ${own.length} numbers from a snapshot of ${
      stacks?.length ?? "none"
    }`,
  );
}

/** How stacks of a space's values lie in memory. */
export interface StackLayout {
  readonly space: BoxSpace;
  /** Observations in a stack. */
  readonly size: number;
  /** Numbers of an observation. */
  readonly frame: number;
  /** Numbers of an observation that stay together in a stack. */
  readonly run: number;
  readonly isZeroPadded: boolean;
  /** Observations in a stack, where stacks along the last axis share them. */
  readonly sharedFrames: number | undefined;
}

/** The layout of stacks, with settings that are checked. */
export function stackLayout(
  space: Space,
  { size = 4, padding = "reset", axis = "last" }: FrameStackOptions,
): StackLayout {
  if (space.type !== "box") {
    throw new TypeError(
      `Cannot stack observations of a ${space.type} space: flatten them first`,
    );
  }
  if (!Number.isInteger(size) || size < 1) {
    throw new RangeError(
      `Cannot stack ${size} observations: expected a whole number of at least 1`,
    );
  }
  checkChoice("padding", padding, ["reset", "zero"]);
  checkChoice("axis", axis, ["first", "last"]);
  const isZeroPadded = padding === "zero";
  const frame = elementCount(space);
  const shape = space.shape.length === 0 ? [1] : space.shape;
  const channels = shape.at(-1)!;
  const run = axis === "first" ? frame : channels;
  // Zeros before an episode's first observation are values, too.
  const widen = (end: "low" | "high"): number | number[] => {
    const bound = repeatBound(space[end], { size, channels: run });
    const reach = end === "low" ? Math.min : Math.max;
    if (!isZeroPadded || size === 1) return bound;
    return typeof bound === "number"
      ? reach(bound, 0)
      : bound.map((it) => reach(it, 0));
  };
  const stacked = box({
    low: widen("low"),
    high: widen("high"),
    shape: axis === "first"
      ? [size, ...space.shape]
      : [...shape.slice(0, -1), channels * size],
    dtype: space.dtype,
  });
  return {
    space: stacked,
    size,
    frame,
    run,
    isZeroPadded,
    sharedFrames: axis === "last" && !isZeroPadded ? size : undefined,
  };
}

const IS_LITTLE_ENDIAN = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1;

/** The words of an array, where each of them is a stack of four bytes. */
function wordsOf(
  { size, run }: StackLayout,
  stacks: BoxArray,
): Int32Array | undefined {
  const isWord = size === 4 && run === 1 && stacks instanceof Uint8Array;
  return isWord && IS_LITTLE_ENDIAN ? new Int32Array(stacks.buffer) : undefined;
}

/** Keeps the last observations of each copy in stacks. */
export class FrameStacker {
  readonly space: BoxSpace;
  /** The present stacks of all copies. */
  readonly stacks: BoxArray;
  /** The last stacks of the episodes that ended. */
  readonly finalStacks: BoxArray;
  #layout: StackLayout;
  #words: Int32Array | undefined;
  #finalWords: Int32Array | undefined;

  constructor(space: Space, numEnvs: number, options: FrameStackOptions = {}) {
    const layout = stackLayout(space, options);
    const { frame, size } = layout;
    this.#layout = layout;
    this.space = layout.space;
    this.stacks = allocateArray(this.space, numEnvs * frame * size);
    this.finalStacks = allocateArray(this.space, numEnvs * frame * size);
    this.#words = wordsOf(layout, this.stacks);
    this.#finalWords = wordsOf(layout, this.finalStacks);
  }

  /** Frames of a stack, where stacks can share them. */
  get sharedFrames(): number | undefined {
    return this.#layout.sharedFrames;
  }

  /** Goes on from saved stacks of all copies. */
  load(saved: StateTree): void {
    this.stacks.set(checkStacks(saved, this.stacks));
  }

  /** Starts a copy's stack with an episode's first observation, at `from`. */
  start(row: number, batch: BoxArray, from = row * this.#layout.frame): void {
    const { frame, size, isZeroPadded } = this.#layout;
    const length = frame * size;
    if (isZeroPadded) this.stacks.fill(0, row * length, (row + 1) * length);
    const times = isZeroPadded ? 1 : size;
    for (let i = 0; i < times; i++) this.push(row, batch, from);
  }

  /** Adds the observation that stands at `from` to a copy's stack. */
  push(row: number, batch: BoxArray, from = row * this.#layout.frame): void {
    if (this.#words === undefined) {
      this.#shift({ row, target: this.stacks }, batch, from);
    } else {
      this.#shiftWords({ row, target: this.#words }, batch, from);
    }
  }

  /** Makes a copy's last stack, with an episode's last observation. */
  end(row: number, batch: BoxArray, from = row * this.#layout.frame): void {
    if (this.#finalWords === undefined) {
      this.#shift({ row, target: this.finalStacks }, batch, from);
    } else {
      this.#shiftWords({ row, target: this.#finalWords }, batch, from);
    }
  }

  #shift({ row, target }: Place<BoxArray>, batch: BoxArray, at: number): void {
    const { run, frame, size } = this.#layout, wide = run * size;
    let to = row * frame * size;
    for (let from = at; from < at + frame; from += run, to += wide) {
      for (let i = 0; i < wide - run; i++) {
        target[to + i] = this.stacks[to + i + run];
      }
      for (let c = 0; c < run; c++) {
        target[to + wide - run + c] = batch[from + c];
      }
    }
  }

  /** Four pixels are a word: the oldest, in the lowest byte, is shifted out. */
  #shiftWords(
    { row, target }: Place<Int32Array>,
    batch: BoxArray,
    at: number,
  ): void {
    const words = this.#words!, { frame } = this.#layout;
    const to = row * frame;
    for (let i = 0; i < frame; i++) {
      target[to + i] = (words[to + i] >>> 8) | (batch[at + i] << 24);
    }
  }
}

/** Which copy's stack is written, and into which array. */
interface Place<T> {
  row: number;
  target: T;
}
