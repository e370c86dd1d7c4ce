import type { BoxSpace } from "@bellman/types";

/** One number of an action that varies, in the environment's units. */
export interface ActionAxis {
  /** Index of the number in an action. */
  readonly index: number;
  readonly name: string;
  readonly low: number;
  readonly high: number;
}

/** Finds a point of those that are spaced evenly on an axis, its ends among them. */
export function pointOn(
  { low, high }: Pick<ActionAxis, "low" | "high">,
  index: number,
  count: number,
): number {
  return low + index / (count - 1) * (high - low);
}

/** Box actions of which the first number or the first two vary; the others are in the middle of their bounds. */
export class ActionPlane {
  /** The numbers that vary, one or two. */
  readonly axes: readonly ActionAxis[];
  /** Numbers of one action. */
  readonly size: number;
  /** The action that varies, in [-1, 1]. */
  readonly #action: Float64Array;

  constructor(space: BoxSpace) {
    const bounds = boundsOf(space);
    this.size = bounds.length;
    this.axes = bounds.slice(0, 2).map(([low, high], index) => {
      return { index, name: nameOf(index, space.shape), low, high };
    });
    this.#action = new Float64Array(this.size);
  }

  /**
   * Lays actions `[count^axes, size]` on a grid, in [-1, 1], one array for each
   * line along the first axis.
   */
  lines(count: number): Float32Array[] {
    const [first, second] = this.axes;
    const move = ({ index, low, high }: ActionAxis, i: number) =>
      this.#action[index] = low === high ? 0 : 2 * i / (count - 1) - 1;
    const line = (): Float32Array => {
      const actions = new Float32Array(count * this.size);
      for (let i = 0; i < count; i++) {
        move(first, i);
        actions.set(this.#action, i * this.size);
      }
      return actions;
    };
    if (second === undefined) return [line()];
    return Array.from({ length: count }, (_, i) => {
      move(second, i);
      return line();
    });
  }
}

function boundsOf({ shape, low, high }: BoxSpace): [number, number][] {
  const size = shape.reduce((product, length) => product * length, 1);
  const at = (bound: number | readonly number[], i: number) =>
    typeof bound === "number" ? bound : bound[i];
  const bounds = Array.from(
    { length: size },
    (_, i): [number, number] => [at(low, i), at(high, i)],
  );
  const endless = bounds.findIndex((it) => !it.every(Number.isFinite));
  if (size === 0 || endless >= 0) {
    throw new RangeError(
      size === 0
        ? "Cannot plot actions of 0 numbers: expected at least one"
        : `Cannot plot actions between ${bounds[endless][0]} and ${
          bounds[endless][1]
        }: expected finite bounds`,
    );
  }
  return bounds;
}

/** Names it `action[1]`, with an index for each axis of the action's shape. */
function nameOf(index: number, shape: readonly number[]): string {
  const indices: number[] = [];
  let rest = index;
  for (const length of shape.toReversed()) {
    indices.unshift(rest % length);
    rest = Math.floor(rest / length);
  }
  return indices.length === 0 ? "action" : `action[${indices.join(", ")}]`;
}
