import type { BoxArray, BoxSpace, Space } from "@bellman/types";
import { allocateArray, boundAt, elementCount } from "./space_arrays.ts";
import { box } from "./space_constructors.ts";

function requireBox(space: Space, verb: string): BoxSpace {
  if (space.type === "box") return space;
  throw new TypeError(
    `Cannot ${verb} actions of a ${space.type} space: expected a box`,
  );
}

/** Throws unless there are as many numbers as the copies take. */
function checkCount(
  verb: string,
  actions: BoxArray | undefined,
  wanted: number,
): void {
  if (actions?.length === wanted) return;
  throw new RangeError(
    `Cannot ${verb} ${
      actions?.length ?? "no"
    } numbers of actions: expected ${wanted}`,
  );
}

/** Actions of an unbounded box, brought into the bounds of the one inside. */
export class ActionClipper {
  readonly space: BoxSpace;
  #inner: BoxSpace;
  #clipped: BoxArray;

  constructor(space: Space, numEnvs: number) {
    this.#inner = requireBox(space, "clip");
    const { shape, dtype } = this.#inner;
    this.space = box({ shape, dtype });
    this.#clipped = allocateArray(space, numEnvs * elementCount(space));
  }

  apply(actions: BoxArray): BoxArray {
    checkCount("clip", actions, this.#clipped.length);
    const { low, high } = this.#inner;
    const size = elementCount(this.#inner);
    for (let i = 0; i < actions.length; i++) {
      const least = boundAt(low, i % size), most = boundAt(high, i % size);
      this.#clipped[i] = Math.min(Math.max(actions[i], least), most);
    }
    return this.#clipped;
  }
}

/** The range that actions are given in. */
export interface RescaleActionOptions {
  /**
   * What stands for the lower bound.
   *
   * @default -1
   */
  low?: number;
  /**
   * What stands for the upper bound.
   *
   * @default 1
   */
  high?: number;
}

/** Actions given in one range, stretched to the bounds of the one inside. */
export class ActionRescaler {
  readonly space: BoxSpace;
  #inner: BoxSpace;
  #low: number;
  #high: number;
  #scaled: BoxArray;

  constructor(
    space: Space,
    numEnvs: number,
    options: RescaleActionOptions = {},
  ) {
    const { low = -1, high = 1 } = options;
    this.#inner = requireBox(space, "rescale");
    const { shape, dtype } = this.#inner;
    if (!dtype.startsWith("float")) {
      throw new TypeError(
        `Cannot rescale actions of ${dtype}: expected floating-point numbers`,
      );
    }
    const size = elementCount(space);
    for (let i = 0; i < size; i++) {
      const least = boundAt(this.#inner.low, i);
      const most = boundAt(this.#inner.high, i);
      if (Number.isFinite(least) && Number.isFinite(most)) continue;
      throw new RangeError(
        `Cannot rescale actions whose element ${i} lies from ${least} to ${most}: expected finite bounds`,
      );
    }
    if (!(low < high)) {
      throw new RangeError(
        `Cannot rescale actions from ${low} to ${high}: expected a lower bound below the upper`,
      );
    }
    this.#low = low;
    this.#high = high;
    this.space = box({ low, high, shape, dtype });
    this.#scaled = allocateArray(space, numEnvs * size);
  }

  apply(actions: BoxArray): BoxArray {
    checkCount("rescale", actions, this.#scaled.length);
    const size = elementCount(this.#inner);
    for (let i = 0; i < actions.length; i++) {
      const least = boundAt(this.#inner.low, i % size);
      const most = boundAt(this.#inner.high, i % size);
      const part = (actions[i] - this.#low) / (this.#high - this.#low);
      this.#scaled[i] = least + Math.min(Math.max(part, 0), 1) * (most - least);
    }
    return this.#scaled;
  }
}
