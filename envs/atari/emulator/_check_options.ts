import { givenOptions, unknownOption, wrongOption } from "../../_checks.ts";

/** Kind of an option. */
export interface OptionKind {
  /** Results of `typeof` for its values. */
  readonly types: readonly string[];
  /** Description of its values. */
  readonly expected: string;
  /** True where a value of one of the types is one of its values. */
  isFine(value: unknown): boolean;
}

/** The kind of each option. */
export type OptionKinds<T> = Readonly<Record<keyof T & string, OptionKind>>;

function isWhole(value: unknown, least: number): boolean {
  return Number.isSafeInteger(value) && value as number >= least;
}

/** True or false. */
export const FLAG: OptionKind = {
  types: ["boolean"],
  expected: "true or false",
  isFine: () => true,
};

/** A probability. */
export const CHANCE: OptionKind = {
  types: ["number"],
  expected: "0 to 1",
  isFine: (value) => value as number >= 0 && value as number <= 1,
};

/** Frames after which a game is truncated. */
export const FRAME_LIMIT: OptionKind = {
  types: ["number"],
  expected: "a whole number of at least 1, or Infinity",
  isFine: (value) => value === Infinity || isWhole(value, 1),
};

/** Frames of a step, or between which numbers they are drawn. */
export const FRAME_RANGE: OptionKind = {
  types: ["number", "object"],
  expected: "a whole number of at least 1, or two that rise",
  isFine(value) {
    if (!Array.isArray(value)) return isWhole(value, 1);
    const [low, high] = value;
    return value.length === 2 && isWhole(low, 1) && isWhole(high, low + 1);
  },
};

/** Width and height of a picture. */
export const SIZE: OptionKind = {
  types: ["object"],
  expected: "width and height of at least 1, both whole numbers",
  isFine(value) {
    const { width, height } = value as Record<string, unknown>;
    return isWhole(width, 1) && isWhole(height, 1);
  },
};

/** Declares a whole number of at least so much. */
export function whole(least: number): OptionKind {
  return {
    types: ["number"],
    expected: `a whole number of at least ${least}`,
    isFine: (value) => isWhole(value, least),
  };
}

/** Declares one of some words. */
export function oneOf(...words: readonly string[]): OptionKind {
  return {
    types: ["string"],
    expected: words.join(", "),
    isFine: (value) => words.includes(value as string),
  };
}

/**
 * Checks that options are known, and each of its kind.
 *
 * @param what Thing that is made with them.
 * @returns Those that were given.
 * @throws {TypeError} If one is not known, or of another type.
 * @throws {RangeError} If one is not among those that can be.
 */
export function checkOptions<T extends object>(
  what: string,
  options: T,
  kinds: OptionKinds<T>,
): T {
  const given = givenOptions(options);
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(kinds, name)) {
      throw unknownOption(what, name, Object.keys(kinds));
    }
    const { types, expected, isFine } = kinds[name as keyof T & string];
    const isOfType = value !== null && types.includes(typeof value);
    if (isOfType && isFine(value)) continue;
    const Wrong = isOfType ? RangeError : TypeError;
    throw new Wrong(wrongOption(what, [name, value], expected));
  }
  return given;
}
