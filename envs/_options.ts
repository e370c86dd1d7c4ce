import { inspect } from "@bellman/files";
import { closest } from "fastest-levenshtein";

/**
 * Kind of an option: `typeof` of its values, their description, and a check of a
 * value of such a type.
 */
export type OptionKind = readonly [
  types: string | readonly string[],
  expected: string,
  isFine?: (value: never) => boolean,
];

/** The kind of each option. */
export type OptionKinds<T> = Readonly<Record<keyof T & string, OptionKind>>;

/** Finds out if a value is a whole number of at least so much. */
export function isWhole(value: unknown, least: number): boolean {
  return Number.isSafeInteger(value) && value as number >= least;
}

/** True or false. */
export const FLAG: OptionKind = ["boolean", "true or false"];

/** Declares a whole number of at least so much. */
export function whole(least: number): OptionKind {
  const expected = `a whole number of at least ${least}`;
  return ["number", expected, (value: number) => isWhole(value, least)];
}

/** Declares one of some words. */
export function oneOf(...words: readonly string[]): OptionKind {
  return ["string", words.join(", "), (value: string) => words.includes(value)];
}

/** Drops the options that are undefined, which are as left out. */
export function givenOptions<T extends object>(options: T): T {
  const given = Object.entries(options).filter(([, it]) => it !== undefined);
  return Object.fromEntries(given) as T;
}

/** Makes the error of an option that an environment does not have. */
export function unknownOption(
  what: string,
  name: string,
  known: readonly string[],
): TypeError {
  const hint = known.length === 0
    ? "it has no options"
    : `did you mean '${closest(name, known)}'?`;
  return new TypeError(`Cannot make ${what} with '${name}': ${hint}`);
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
    const [types, expected, isFine] = kinds[name as keyof T & string];
    const isOfType = value !== null && [types].flat().includes(typeof value);
    if (isOfType && (isFine?.(value as never) ?? true)) continue;
    const Wrong = isOfType ? RangeError : TypeError;
    throw new Wrong(
      `Cannot make ${what} with ${name} ${
        inspect(value)
      }: expected ${expected}`,
    );
  }
  return given;
}
