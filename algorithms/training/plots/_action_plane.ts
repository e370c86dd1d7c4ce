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

/** Least and largest number. */
type Bounds = readonly [number, number];

/** Box actions of which one or two numbers vary, the others stay. */
export class ActionPlane {
  /** The numbers that vary, one or two. */
  readonly axes: readonly ActionAxis[];
  /** Numbers of one action. */
  readonly size: number;
  readonly #bounds: readonly Bounds[];
  /** The action that varies, in [-1, 1]. */
  readonly #action: Float64Array;

  constructor(space: BoxSpace, defaultAction?: readonly number[]) {
    this.#bounds = boundsOf(space);
    this.size = this.#bounds.length;
    const action = defaultAction ??
      this.#bounds.map(([low, high], i) => i < 2 ? NaN : (low + high) / 2);
    checkAction(action, this.#bounds);
    const varied = [...action.keys()].filter((i) => Number.isNaN(action[i]));
    this.axes = varied.map((index) => {
      const [low, high] = this.#bounds[index];
      return { index, name: nameOf(index, space.shape), low, high };
    });
    this.#action = Float64Array.from(action, (it, i) => this.#toUnit(it, i));
  }

  #toUnit(value: number, index: number): number {
    const [low, high] = this.#bounds[index];
    return low === high ? 0 : 2 * (value - low) / (high - low) - 1;
  }

  /**
   * Lays actions `[count^axes, size]` on a grid, in [-1, 1], one array for each
   * line along the first axis.
   */
  lines(count: number): Float32Array[] {
    const [first, second] = this.axes;
    const move = (axis: ActionAxis, i: number) =>
      this.#action[axis.index] = this.#toUnit(
        pointOn(axis, i, count),
        axis.index,
      );
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

function checkAction(
  action: readonly number[],
  bounds: readonly Bounds[],
): void {
  if (action.length !== bounds.length) {
    throw new RangeError(
      `Cannot plot with a defaultAction of ${action.length} numbers: expected ${bounds.length}`,
    );
  }
  const varied = action.filter(Number.isNaN).length;
  if (varied !== 1 && varied !== 2) {
    throw new RangeError(
      `Cannot plot with a defaultAction of which ${varied} numbers vary: expected NaN for one or two`,
    );
  }
  bounds.forEach(([low, high], i) => {
    if (action[i] >= low && action[i] <= high || Number.isNaN(action[i])) {
      return;
    }
    throw new RangeError(
      `Cannot plot with defaultAction[${i}] = ${
        action[i]
      }: expected NaN, or a number from ${low} to ${high}`,
    );
  });
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
