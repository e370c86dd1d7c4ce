import {
  checkStacks,
  type FrameStackOptions,
  stackLayout,
} from "./_frame_stacker.ts";
import type { BoxArray, BoxSpace, Space, StateTree } from "@bellman/types";
import { allocateArray } from "./space_arrays.ts";

/** Observations of a chunk, besides those of its first stack. */
const CHUNK_FRAMES = 32;

/**
 * Stacks along a first axis that are windows on one growing row of frames: each
 * frame is kept once, however many stacks show it. What was written is never
 * changed, so that a stack stays what it was for as long as it is held. Frames
 * lie in chunks, so that those that nobody holds are given back.
 */
export class SlidingStack {
  readonly space: BoxSpace;
  #size: number;
  #frame: number;
  #isZeroPadded: boolean;
  #chunk: BoxArray;
  #end = 0;

  constructor(space: Space, options: FrameStackOptions = {}) {
    const layout = stackLayout(space, options);
    this.space = layout.space;
    this.#size = layout.size;
    this.#frame = layout.frame;
    this.#isZeroPadded = layout.isZeroPadded;
    this.#chunk = this.#allocate();
  }

  #allocate(): BoxArray {
    this.#end = this.#size * this.#frame;
    return allocateArray(this.space, this.#end + CHUNK_FRAMES * this.#frame);
  }

  /** The present stack; the array lasts. */
  get stack(): BoxArray {
    return this.#chunk.subarray(
      this.#end - this.#size * this.#frame,
      this.#end,
    ) as BoxArray;
  }

  /** Goes on from a stack, which is copied. */
  load(saved: StateTree): void {
    const stack = checkStacks(saved, this.stack);
    this.#chunk = this.#allocate();
    this.#chunk.set(stack);
  }

  /** Starts a stack with an episode's first observation. */
  start(observation: BoxArray): BoxArray {
    this.#chunk = this.#allocate();
    const first = this.#isZeroPadded ? this.#size - 1 : 0;
    for (let i = first; i < this.#size; i++) {
      this.#chunk.set(observation, i * this.#frame);
    }
    return this.stack;
  }

  /** The stack with one more observation. */
  push(observation: BoxArray): BoxArray {
    if (this.#end === this.#chunk.length) this.load(this.stack);
    this.#chunk.set(observation, this.#end);
    this.#end += this.#frame;
    return this.stack;
  }
}
