import { refuseUnknown } from "@bellman/files/options";
import type {
  BoxDtype,
  BoxSpace,
  DictSpace,
  DiscreteSpace,
  MultiBinarySpace,
  MultiDiscreteSpace,
  Space,
  TupleSpace,
} from "@bellman/types";
import { boundAt } from "./arrays.ts";

function checkCount(what: string, n: number): void {
  if (Number.isInteger(n) && n >= 1) return;
  throw new RangeError(
    `Cannot make a ${what} space of ${n}: expected a whole number of at least 1`,
  );
}

/**
 * Makes the space of `n` whole numbers.
 *
 * @param n Number of values.
 * @param options Smallest value.
 * @returns The space.
 * @throws {RangeError} If `n` is not a whole number of at least 1, or the smallest
 * value is no whole number.
 * @example
 * ```ts
 * import { contains, discrete } from "@bellman/envs";
 * import { assert } from "@std/assert";
 *
 * assert(contains(discrete(2), 1));
 * assert(!contains(discrete(2), 2));
 * ```
 */
export function discrete(
  n: number,
  options: { start?: number } = {},
): DiscreteSpace {
  checkCount("discrete", n);
  refuseUnknown(options, ["start"], "a discrete space");
  const { start } = options;
  if (!Number.isInteger(start ?? 0)) {
    throw new RangeError(
      `Cannot start a discrete space at ${start}: expected a whole number`,
    );
  }
  return { type: "discrete", n, ...(start === undefined ? {} : { start }) };
}

/**
 * Bounds, shape and type of {@linkcode box}.
 *
 * @typeParam D Element type.
 */
export interface BoxOptions<D extends BoxDtype = BoxDtype> {
  /**
   * Lower bound of every element, or of each.
   *
   * @default -Infinity
   */
  low?: number | readonly number[];
  /**
   * Upper bound of every element, or of each.
   *
   * @default Infinity
   */
  high?: number | readonly number[];
  /** Length of each axis; by default that of a list of bounds. */
  shape?: readonly number[];
  /**
   * Element type.
   *
   * @default "float32"
   */
  dtype?: D;
}

/**
 * Makes the space of arrays between bounds.
 *
 * @typeParam D Element type.
 * @param options Bounds, shape and element type.
 * @returns The space.
 * @throws {RangeError} If bounds and shape do not fit or a bound is NaN.
 * @example
 * ```ts
 * import { box } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const position = box({ low: [-1, -2], high: [1, 2] });
 * assertEquals(position.shape, [2]);
 * const image = box({ low: 0, high: 255, shape: [84, 84, 4], dtype: "uint8" });
 * assertEquals(image.dtype, "uint8");
 * ```
 */
export function box<D extends BoxDtype = "float32">(
  options: BoxOptions<D> = {},
): BoxSpace<D> {
  refuseUnknown(options, ["low", "high", "shape", "dtype"], "a box");
  const { low = -Infinity, high = Infinity } = options;
  const dtype = options.dtype ?? "float32" as D;
  const lists = [low, high].filter((it) => typeof it !== "number");
  const shape = options.shape ??
    (lists.length > 0 ? [(lists[0] as readonly number[]).length] : []);
  const size = shape.reduce((product, length) => product * length, 1);
  for (const list of lists as (readonly number[])[]) {
    if (list.length === size) continue;
    throw new RangeError(
      `Cannot make a box of shape [${shape}] with ${list.length} bounds: expected ${size} or a single number`,
    );
  }
  for (let i = 0; i < (lists.length > 0 ? size : 1); i++) {
    const least = boundAt(low, i), most = boundAt(high, i);
    if (least <= most) continue;
    throw new RangeError(
      `Cannot make a box whose element ${i} lies from ${least} to ${most}: the lower bound must not be above the upper`,
    );
  }
  const copy = (bound: number | readonly number[]) =>
    typeof bound === "number" ? bound : [...bound];
  return {
    type: "box",
    shape: [...shape],
    low: copy(low),
    high: copy(high),
    dtype,
  };
}

/**
 * Makes the space of several whole numbers.
 *
 * @param nvec Number of values of each.
 * @returns The space.
 * @throws {RangeError} If a count is not a whole number of at least 1.
 * @example
 * ```ts
 * import { contains, multiDiscrete } from "@bellman/envs";
 * import { assert } from "@std/assert";
 *
 * assert(contains(multiDiscrete([2, 3]), Int32Array.of(1, 2)));
 * ```
 */
export function multiDiscrete(nvec: readonly number[]): MultiDiscreteSpace {
  nvec.forEach((n) => checkCount("multi-discrete", n));
  return { type: "multiDiscrete", nvec: [...nvec] };
}

/**
 * Makes the space of several bits.
 *
 * @param n Number of bits.
 * @returns The space.
 * @throws {RangeError} If `n` is not a whole number of at least 1.
 * @example
 * ```ts
 * import { contains, multiBinary } from "@bellman/envs";
 * import { assert } from "@std/assert";
 *
 * assert(contains(multiBinary(3), Uint8Array.of(1, 0, 1)));
 * ```
 */
export function multiBinary(n: number): MultiBinarySpace {
  checkCount("multi-binary", n);
  return { type: "multiBinary", n };
}

/**
 * Makes the space of named values, in the order of their names: equal spaces
 * flatten alike however they were written, as in Gymnasium.
 *
 * @param spaces Spaces by name.
 * @returns The space.
 * @example
 * ```ts
 * import { dict, discrete } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(Object.keys(dict({ goal: discrete(4) }).spaces), ["goal"]);
 * ```
 */
export function dict(spaces: Readonly<Record<string, Space>>): DictSpace {
  const names = Object.keys(spaces).sort();
  return {
    type: "dict",
    spaces: Object.fromEntries(names.map((name) => [name, spaces[name]])),
  };
}

/**
 * Makes the space of lists of values.
 *
 * @param spaces Spaces in order.
 * @returns The space.
 * @example
 * ```ts
 * import { discrete, tuple } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(tuple([discrete(2), discrete(3)]).spaces.length, 2);
 * ```
 */
export function tuple(spaces: readonly Space[]): TupleSpace {
  return { type: "tuple", spaces: [...spaces] };
}
