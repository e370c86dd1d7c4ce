import type { BoxSpace, Space } from "@bellman/types";

/** Arrays that environments take actions in. */
export type ActionArray = Float32Array | Float64Array | Int32Array | Uint8Array;

/** Options of {@link envActions}. */
export interface EnvActionsOptions {
  /**
   * Whether box actions come in [-1, 1] and are stretched to the bounds of their
   * space; otherwise they come in its units and are clipped to them.
   *
   * @default false
   */
  readonly squashed?: boolean;
}

/**
 * A function from actions as a policy samples them to those that the
 * environment takes: its type of array, within its bounds. What was sampled is left as it is, since its probability is what the
 * policy learns from.
 *
 * @param space Space of one action: any but dict and tuple.
 * @param options Whether box actions are squashed.
 * @returns The function, from `[numEnvs, ...]` to a new array of the same size.
 *
 * @example
 * ```ts
 * import { envActions } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * const box = { type: "box", shape: [1], low: -2, high: 2, dtype: "float32" } as const;
 * assertEquals(envActions(box)([3, -1]), Float32Array.of(2, -1));
 * assertEquals(envActions(box, { squashed: true })([1, -0.5]), Float32Array.of(2, -1));
 * ```
 */
export function envActions(
  space: Space,
  options: EnvActionsOptions = {},
): (sampled: ArrayLike<number>) => ActionArray {
  switch (space.type) {
    case "multiBinary":
      return (sampled) => new Uint8Array(sampled);
    case "box":
      return bounder(space, options.squashed ?? false);
    default:
      return (sampled) => new Int32Array(sampled);
  }
}

function bounder(
  space: BoxSpace,
  squashed: boolean,
): (sampled: ArrayLike<number>) => ActionArray {
  const ArrayType = ARRAYS[space.dtype];
  const size = space.shape.reduce((product, length) => product * length, 1);
  const bounds = (bound: number | readonly number[]): Float64Array =>
    typeof bound === "number"
      ? new Float64Array(size).fill(bound)
      : Float64Array.from(bound);
  const low = bounds(space.low);
  const high = bounds(space.high);
  const whole = space.dtype === "int32" || space.dtype === "uint8";
  return (sampled) => {
    const actions = new ArrayType(sampled.length);
    for (let i = 0; i < actions.length; i++) {
      const least = low[i % size], most = high[i % size];
      const wanted = squashed
        ? least + (sampled[i] + 1) / 2 * (most - least)
        : sampled[i];
      const inside = Math.min(Math.max(wanted, least), most);
      actions[i] = whole ? Math.round(inside) : inside;
    }
    return actions;
  };
}

const ARRAYS = {
  float32: Float32Array,
  float64: Float64Array,
  int32: Int32Array,
  uint8: Uint8Array,
} as const;
