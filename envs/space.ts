import type { RandomSource } from "./random.ts";

/** Element types of a box. */
export type BoxDtype = "float32" | "float64" | "int32" | "uint8";

/** The typed arrays that box values are held in. */
export type BoxArray = Float32Array | Float64Array | Int32Array | Uint8Array;

/** The whole numbers from `start` (0 without one) up to `start + n - 1`. */
export interface DiscreteSpace {
  /** Tells the spaces apart. */
  readonly type: "discrete";
  /** How many values there are, at least 1. */
  readonly n: number;
  /** The smallest value; 0 without one. */
  readonly start?: number;
}

/** Arrays of numbers between bounds, in row-major order. */
export interface BoxSpace {
  /** Tells the spaces apart. */
  readonly type: "box";
  /** The length of each axis; empty for a single number. */
  readonly shape: readonly number[];
  /** Lower bound of every element, or of each; `-Infinity` for none. */
  readonly low: number | readonly number[];
  /** Upper bound of every element, or of each; `Infinity` for none. */
  readonly high: number | readonly number[];
  /** Element type. */
  readonly dtype: BoxDtype;
}

/** Several whole numbers, the i-th from 0 up to `nvec[i] - 1`. */
export interface MultiDiscreteSpace {
  /** Tells the spaces apart. */
  readonly type: "multiDiscrete";
  /** How many values each number has. */
  readonly nvec: readonly number[];
}

/** Several bits. */
export interface MultiBinarySpace {
  /** Tells the spaces apart. */
  readonly type: "multiBinary";
  /** How many bits there are. */
  readonly n: number;
}

/** Named values, each of a space of its own. */
export interface DictSpace {
  /** Tells the spaces apart. */
  readonly type: "dict";
  /** The spaces by name; flattening takes them in this order. */
  readonly spaces: Readonly<Record<string, Space>>;
}

/** A list of values, each of a space of its own. */
export interface TupleSpace {
  /** Tells the spaces apart. */
  readonly type: "tuple";
  /** The spaces in order. */
  readonly spaces: readonly Space[];
}

/** What observations or actions can be, as plain data told apart by `type`. */
export type Space =
  | DiscreteSpace
  | BoxSpace
  | MultiDiscreteSpace
  | MultiBinarySpace
  | DictSpace
  | TupleSpace;

/**
 * One value of a space: a number (discrete), a typed array (box,
 * `Int32Array` for multi-discrete, `Uint8Array` for multi-binary), a record
 * (dict) or a list (tuple).
 */
export type SpaceValue =
  | number
  | BoxArray
  | { readonly [key: string]: SpaceValue }
  | readonly SpaceValue[];

function checkCount(what: string, n: number): void {
  if (Number.isInteger(n) && n >= 1) return;
  throw new RangeError(
    `Cannot make a ${what} space of ${n}: expected a whole number of at least 1`,
  );
}

/**
 * The space of `n` whole numbers.
 *
 * @param n How many there are.
 * @param options The smallest of them.
 * @returns The space.
 * @throws {RangeError} If `n` is not a whole number of at least 1.
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
  const { start } = options;
  return start === undefined
    ? { type: "discrete", n }
    : { type: "discrete", n, start };
}

/** Bounds, shape and type of {@linkcode box}. */
export interface BoxOptions {
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
  /** The length of each axis; by default that of a list of bounds. */
  shape?: readonly number[];
  /**
   * Element type.
   *
   * @default "float32"
   */
  dtype?: BoxDtype;
}

/**
 * The space of arrays between bounds.
 *
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
export function box(options: BoxOptions = {}): BoxSpace {
  const { low = -Infinity, high = Infinity, dtype = "float32" } = options;
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
  for (let i = 0; i < size; i++) {
    const least = boundAt(low, i), most = boundAt(high, i);
    if (least <= most) continue;
    throw new RangeError(
      `Cannot make a box whose element ${i} lies from ${least} to ${most}: the lower bound must not be above the upper`,
    );
  }
  return { type: "box", shape: [...shape], low, high, dtype };
}

/**
 * The bound of one element.
 *
 * @param bound A bound of a box, its `low` or `high`.
 * @param i The element, row-major.
 * @returns The number.
 * @example
 * ```ts
 * import { boundAt } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(boundAt([1, 2], 1), 2);
 * assertEquals(boundAt(3, 1), 3);
 * ```
 */
export function boundAt(bound: number | readonly number[], i: number): number {
  return typeof bound === "number" ? bound : bound[i];
}

/**
 * The space of several whole numbers.
 *
 * @param nvec How many values each number has.
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
 * The space of several bits.
 *
 * @param n How many bits.
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
 * The space of named values.
 *
 * @param spaces The spaces by name.
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
  return { type: "dict", spaces: { ...spaces } };
}

/**
 * The space of lists of values.
 *
 * @param spaces The spaces in order.
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

/**
 * How many numbers a value of a leaf space has: 1 for a discrete one.
 *
 * @param space Any space but a dict or a tuple.
 * @returns The count.
 * @throws {TypeError} If the space is a dict or a tuple.
 * @example
 * ```ts
 * import { box, elementCount } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(elementCount(box({ shape: [2, 3] })), 6);
 * ```
 */
export function elementCount(space: Space): number {
  switch (space.type) {
    case "discrete":
      return 1;
    case "box":
      return space.shape.reduce((product, length) => product * length, 1);
    case "multiDiscrete":
      return space.nvec.length;
    case "multiBinary":
      return space.n;
    default:
      throw new TypeError(
        `Cannot count the elements of a ${space.type} space: flatten it first`,
      );
  }
}

const ARRAYS = {
  float32: Float32Array,
  float64: Float64Array,
  int32: Int32Array,
  uint8: Uint8Array,
} as const;

/**
 * An array of zeros of the type that a leaf space's values are held in.
 *
 * @param space Any space but a dict or a tuple.
 * @param length How many numbers.
 * @returns The array.
 * @throws {TypeError} If the space is a dict or a tuple.
 * @example
 * ```ts
 * import { allocateArray, discrete } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(allocateArray(discrete(2), 3), new Int32Array(3));
 * ```
 */
export function allocateArray(space: Space, length: number): BoxArray {
  switch (space.type) {
    case "box":
      return new ARRAYS[space.dtype](length);
    case "multiBinary":
      return new Uint8Array(length);
    case "discrete":
    case "multiDiscrete":
      return new Int32Array(length);
    default:
      throw new TypeError(
        `Cannot hold values of a ${space.type} space in one array`,
      );
  }
}

function isArrayOf(space: Space, value: unknown): value is BoxArray {
  const like = allocateArray(space, 0);
  return ArrayBuffer.isView(value) &&
    value.constructor === like.constructor &&
    (value as BoxArray).length === elementCount(space);
}

/**
 * Whether a value is one of a space: its type, its length, its bounds; NaN
 * never is.
 *
 * @param space The space.
 * @param value Anything.
 * @returns Whether it lies in the space.
 * @example
 * ```ts
 * import { box, contains } from "@bellman/envs";
 * import { assert } from "@std/assert";
 *
 * const space = box({ low: -1, high: 1, shape: [2] });
 * assert(contains(space, Float32Array.of(0.5, -1)));
 * assert(!contains(space, Float32Array.of(0.5, NaN)));
 * assert(!contains(space, [0.5, 0]));
 * ```
 */
export function contains(space: Space, value: unknown): value is SpaceValue {
  switch (space.type) {
    case "discrete": {
      const index = (value as number) - (space.start ?? 0);
      return typeof value === "number" && Number.isInteger(value) &&
        index >= 0 && index < space.n;
    }
    case "box":
      return isArrayOf(space, value) &&
        value.every((it, i) =>
          it >= boundAt(space.low, i) && it <= boundAt(space.high, i)
        );
    case "multiDiscrete":
      return isArrayOf(space, value) &&
        value.every((it, i) => it >= 0 && it < space.nvec[i]);
    case "multiBinary":
      return isArrayOf(space, value) &&
        value.every((it) => it === 0 || it === 1);
    case "dict": {
      if (typeof value !== "object" || value === null) return false;
      const entries = Object.entries(space.spaces);
      return Object.keys(value).length === entries.length &&
        entries.every(([key, inner]) =>
          contains(inner, (value as Record<string, unknown>)[key])
        );
    }
    case "tuple":
      return Array.isArray(value) && value.length === space.spaces.length &&
        space.spaces.every((inner, i) => contains(inner, value[i]));
  }
}

/** One element of a box: flat, normal or one-sided exponential. */
function sampleElement(
  low: number,
  high: number,
  random: RandomSource,
): number {
  const bounded = [Number.isFinite(low), Number.isFinite(high)];
  if (bounded[0] && bounded[1]) return low + (high - low) * random.uniform();
  if (bounded[0]) return low - Math.log(1 - random.uniform());
  if (bounded[1]) return high + Math.log(1 - random.uniform());
  return random.normal();
}

function sampleBox(space: BoxSpace, random: RandomSource): BoxArray {
  const value = allocateArray(space, elementCount(space));
  const whole = space.dtype === "int32" || space.dtype === "uint8";
  for (let i = 0; i < value.length; i++) {
    const low = boundAt(space.low, i), high = boundAt(space.high, i);
    value[i] = whole
      ? Math.min(Math.floor(sampleElement(low, high + 1, random)), high)
      : sampleElement(low, high, random);
    // Rounding to float32 may step over a bound.
    if (value[i] < low || value[i] > high) value[i] = Math.max(low, 0);
  }
  return value;
}

/**
 * Draws a value of a space: flat where it is bounded, normal where it is not,
 * exponential where it is bounded on one side.
 *
 * @param space The space.
 * @param random Where the numbers come from.
 * @returns A new value.
 * @example
 * ```ts
 * import { box, contains, sample, SeededRandom } from "@bellman/envs";
 * import { assert } from "@std/assert";
 *
 * const space = box({ low: 0, shape: [3] });
 * assert(contains(space, sample(space, new SeededRandom(1))));
 * ```
 */
export function sample(space: Space, random: RandomSource): SpaceValue {
  switch (space.type) {
    case "discrete":
      return random.integer(space.n) + (space.start ?? 0);
    case "box":
      return sampleBox(space, random);
    case "multiDiscrete":
      return Int32Array.from(space.nvec, (n) => random.integer(n));
    case "multiBinary":
      return Uint8Array.from({ length: space.n }, () => random.integer(2));
    case "dict":
      return Object.fromEntries(
        Object.entries(space.spaces).map((
          [key, inner],
        ) => [key, sample(inner, random)]),
      );
    case "tuple":
      return space.spaces.map((inner) => sample(inner, random));
  }
}
