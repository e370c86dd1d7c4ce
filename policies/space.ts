/** Whole numbers from `start` (0 if not given) on. */
export interface DiscreteSpaceLike {
  /** Tells the kinds of spaces apart. */
  readonly type: "discrete";
  /** How many values there are. */
  readonly n: number;
  /**
   * The smallest value.
   *
   * @default 0
   */
  readonly start?: number;
}

/** Arrays of numbers between bounds, row-major. */
export interface BoxSpaceLike {
  /** Tells the kinds of spaces apart. */
  readonly type: "box";
  /** Shape of one value. */
  readonly shape: readonly number[];
  /** Smallest numbers: one for all, or one each. */
  readonly low: number | readonly number[];
  /** Largest numbers: one for all, or one each. */
  readonly high: number | readonly number[];
  /** Type of the numbers. */
  readonly dtype: "float32" | "float64" | "int32" | "uint8";
}

/** Several whole numbers, the i-th from 0 to `nvec[i] - 1`. */
export interface MultiDiscreteSpaceLike {
  /** Tells the kinds of spaces apart. */
  readonly type: "multiDiscrete";
  /** How many values each number has. */
  readonly nvec: readonly number[];
}

/** Several numbers that are 0 or 1. */
export interface MultiBinarySpaceLike {
  /** Tells the kinds of spaces apart. */
  readonly type: "multiBinary";
  /** How many numbers there are. */
  readonly n: number;
}

/** Spaces by name. Models do not take it: see {@link SpaceLike}. */
export interface DictSpaceLike {
  /** Tells the kinds of spaces apart. */
  readonly type: "dict";
  /** The spaces. */
  readonly spaces: Readonly<Record<string, SpaceLike>>;
}

/** Spaces in order. Models do not take it: see {@link SpaceLike}. */
export interface TupleSpaceLike {
  /** Tells the kinds of spaces apart. */
  readonly type: "tuple";
  /** The spaces. */
  readonly spaces: readonly SpaceLike[];
}

/**
 * What observations or actions look like, as plain data: a space of
 * `@bellman/envs` or any object of the same form. Dict and tuple spaces are
 * here so that models can say what to do with them: flatten them first.
 */
export type SpaceLike =
  | DiscreteSpaceLike
  | BoxSpaceLike
  | MultiDiscreteSpaceLike
  | MultiBinarySpaceLike
  | DictSpaceLike
  | TupleSpaceLike;
