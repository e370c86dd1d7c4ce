import type { BoxArray, BoxSpace, Space } from "./space.ts";
import { allocateArray, boundAt, elementCount } from "./space_arrays.ts";
import { box } from "./space_constructors.ts";

/**
 * Settings of the frame stacks.
 *
 * @example
 * ```ts
 * import { FrameStack, make, type FrameStackOptions } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const options: FrameStackOptions = { size: 2, padding: "zero" };
 * const env = new FrameStack(make("CartPole-v1"), options);
 * assertEquals((env.reset({ seed: 0 }) as Float32Array)[0], 0);
 * ```
 */
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
}

/** Each element's bound, repeated for every frame along the last axis. */
function repeatBound(
  space: BoxSpace,
  bound: number | readonly number[],
  size: number,
): number | number[] {
  if (typeof bound === "number") return bound;
  const channels = space.shape.at(-1) ?? 1;
  const all: number[] = [];
  for (let at = 0; at < bound.length; at += channels) {
    for (let frame = 0; frame < size; frame++) {
      for (let c = 0; c < channels; c++) all.push(boundAt(bound, at + c));
    }
  }
  return all;
}

/** Keeps the last observations of each copy, stacked along the last axis. */
export class FrameStacker {
  readonly space: BoxSpace;
  readonly stacks: BoxArray;
  #channels: number;
  #size: number;
  #frame: number;
  #zeroPadding: boolean;

  constructor(space: Space, numEnvs: number, options: FrameStackOptions = {}) {
    const { size = 4, padding = "reset" } = options;
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
    const shape = space.shape.length === 0 ? [1] : space.shape;
    this.#channels = shape.at(-1)!;
    this.#size = size;
    this.#frame = elementCount(space);
    this.#zeroPadding = padding === "zero";
    // Zeros before an episode's first observation are values, too.
    const zero = this.#zeroPadding && size > 1;
    const widen = (end: "low" | "high"): number | number[] => {
      const bound = repeatBound(space, space[end], size);
      const reach = end === "low" ? Math.min : Math.max;
      if (!zero) return bound;
      return typeof bound === "number"
        ? reach(bound, 0)
        : bound.map((it) => reach(it, 0));
    };
    this.space = box({
      low: widen("low"),
      high: widen("high"),
      shape: [...shape.slice(0, -1), this.#channels * size],
      dtype: space.dtype,
    });
    this.stacks = allocateArray(this.space, numEnvs * this.#frame * size);
  }

  /** Starts a copy's stack with its episode's first observation. */
  start(row: number, batch: BoxArray): void {
    if (this.#zeroPadding) {
      const length = this.#frame * this.#size;
      this.stacks.fill(0, row * length, (row + 1) * length);
      this.push(row, batch, this.stacks);
      return;
    }
    for (let i = 0; i < this.#size; i++) this.push(row, batch, this.stacks);
  }

  /** A copy's stack with one more observation, written into `target`. */
  push(row: number, batch: BoxArray, target: BoxArray): void {
    const channels = this.#channels, wide = channels * this.#size;
    const pixels = this.#frame / channels;
    for (let pixel = 0; pixel < pixels; pixel++) {
      const from = row * this.#frame + pixel * channels;
      const to = (row * pixels + pixel) * wide;
      for (let i = 0; i < wide - channels; i++) {
        target[to + i] = this.stacks[to + i + channels];
      }
      for (let c = 0; c < channels; c++) {
        target[to + wide - channels + c] = batch[from + c];
      }
    }
  }
}
