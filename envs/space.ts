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
