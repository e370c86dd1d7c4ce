/**
 * Element types of a box.
 *
 * @example
 * ```ts
 * import { allocateArray, box, type BoxDtype } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const dtype: BoxDtype = "uint8";
 * assertEquals(allocateArray(box({ dtype }), 1), new Uint8Array(1));
 * ```
 */
export type BoxDtype = "float32" | "float64" | "int32" | "uint8";

/**
 * The typed arrays that box values are held in.
 *
 * @example
 * ```ts
 * import { box, contains, type BoxArray } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const place: BoxArray = Float32Array.of(0.5);
 * assertEquals(contains(box({ shape: [1] }), place), true);
 * ```
 */
export type BoxArray = Float32Array | Float64Array | Int32Array | Uint8Array;

/**
 * The whole numbers from `start` (0 without one) up to `start + n - 1`.
 *
 * @example
 * ```ts
 * import { contains, type DiscreteSpace } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const dice: DiscreteSpace = { type: "discrete", n: 6, start: 1 };
 * assertEquals(contains(dice, 6), true);
 * ```
 */
export interface DiscreteSpace {
  /** Tells the spaces apart. */
  readonly type: "discrete";
  /** How many values there are, at least 1. */
  readonly n: number;
  /** The smallest value; 0 without one. */
  readonly start?: number;
}

/**
 * Arrays of numbers between bounds, in row-major order.
 *
 * @example
 * ```ts
 * import { contains, type BoxSpace } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const unit: BoxSpace = {
 *   type: "box",
 *   shape: [2],
 *   low: 0,
 *   high: 1,
 *   dtype: "float32",
 * };
 * assertEquals(contains(unit, Float32Array.of(0, 2)), false);
 * ```
 */
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

/**
 * Several whole numbers, the i-th from 0 up to `nvec[i] - 1`.
 *
 * @example
 * ```ts
 * import { elementCount, type MultiDiscreteSpace } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const buttons: MultiDiscreteSpace = { type: "multiDiscrete", nvec: [3, 2] };
 * assertEquals(elementCount(buttons), 2);
 * ```
 */
export interface MultiDiscreteSpace {
  /** Tells the spaces apart. */
  readonly type: "multiDiscrete";
  /** How many values each number has. */
  readonly nvec: readonly number[];
}

/**
 * Several bits.
 *
 * @example
 * ```ts
 * import { elementCount, type MultiBinarySpace } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const switches: MultiBinarySpace = { type: "multiBinary", n: 4 };
 * assertEquals(elementCount(switches), 4);
 * ```
 */
export interface MultiBinarySpace {
  /** Tells the spaces apart. */
  readonly type: "multiBinary";
  /** How many bits there are. */
  readonly n: number;
}

/**
 * Named values, each of a space of its own.
 *
 * @example
 * ```ts
 * import { discrete, flattenedSize, type DictSpace } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const space: DictSpace = { type: "dict", spaces: { goal: discrete(3) } };
 * assertEquals(flattenedSize(space), 3);
 * ```
 */
export interface DictSpace {
  /** Tells the spaces apart. */
  readonly type: "dict";
  /** The spaces by name; flattening takes them in this order. */
  readonly spaces: Readonly<Record<string, Space>>;
}

/**
 * A list of values, each of a space of its own.
 *
 * @example
 * ```ts
 * import { discrete, flattenedSize, type TupleSpace } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const space: TupleSpace = {
 *   type: "tuple",
 *   spaces: [discrete(3), discrete(2)],
 * };
 * assertEquals(flattenedSize(space), 5);
 * ```
 */
export interface TupleSpace {
  /** Tells the spaces apart. */
  readonly type: "tuple";
  /** The spaces in order. */
  readonly spaces: readonly Space[];
}

/**
 * What observations or actions can be, as plain data told apart by `type`.
 *
 * @example
 * ```ts
 * import { box, discrete, type Space } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const spaces: Space[] = [discrete(2), box({ shape: [3] })];
 * assertEquals(spaces.map((it) => it.type), ["discrete", "box"]);
 * ```
 */
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
 *
 * @example
 * ```ts
 * import { contains, dict, discrete, type SpaceValue } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const value: SpaceValue = { goal: 1 };
 * assertEquals(contains(dict({ goal: discrete(2) }), value), true);
 * ```
 */
export type SpaceValue =
  | number
  | BoxArray
  | { readonly [key: string]: SpaceValue }
  | readonly SpaceValue[];
