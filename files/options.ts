/**
 * Options of functions and constructors: unknown names are refused with the nearest one,
 * values of another kind with what is expected.
 *
 * @example
 * ```ts
 * import { checkOptions, FLAG, whole } from "@bellman/files/options";
 * import { assertThrows } from "@std/assert";
 *
 * const open = (options: { size?: number; cached?: boolean }) =>
 *   checkOptions("a reader", options, { size: whole(1), cached: FLAG });
 * open({ size: 3 });
 * assertThrows(
 *   () => open({ size: 0 }),
 *   RangeError,
 *   "Cannot make a reader with size 0: expected a whole number of at least 1",
 * );
 * ```
 *
 * @module
 */
import { inspect } from "./host.ts";

/** Counts the edits from one word to another one (Levenshtein 1966). */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let i = 0; i < from.length; i++) {
    const next = [i + 1];
    for (let k = 0; k < to.length; k++) {
      const replaced = row[k] + Number(from[i] !== to[k]);
      next.push(Math.min(replaced, row[k + 1] + 1, next[k] + 1));
    }
    row = next;
  }
  return row[to.length];
}

/**
 * Returns the name that a misspelt one stands for: that with the fewest edits, ignoring
 * case, if up to a third of its letters differ.
 *
 * @param name Given name.
 * @param candidates Valid names.
 * @returns The name; `undefined` if none is near.
 *
 * @example
 * ```ts
 * import { typoOf } from "@bellman/files/options";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(typoOf("gama", ["tau", "gamma"]), "gamma");
 * assertEquals(typoOf("bananas", ["tau", "gamma"]), undefined);
 * ```
 */
export function typoOf(
  name: string,
  candidates: readonly string[],
): string | undefined {
  const byLower = new Map(candidates.map((it) => [it.toLowerCase(), it]));
  const lower = name.toLowerCase(),
    near = [...byLower.keys()]
      .toSorted((x, y) => distance(lower, x) - distance(lower, y))[0];
  if (near === undefined) return undefined;
  // Of ids, the version says nothing.
  const [a, b] = [lower, near]
    .map((it) => it.replace(/-v\d*$/, ""));
  const [short, long] = [a.length, b.length].sort((x, y) => x - y);
  const edits = distance(a, b);
  const isNear = edits < short && edits <= Math.max(2, Math.ceil(long / 3));
  return isNear ? byLower.get(near) : undefined;
}

/** Fewest letters by which the rest of a name is guessed. */
const SHORTEST_PART = 4;
/** Most names that a hint lists. */
const MOST_NAMES = 12;

/**
 * Suggests a valid name: the nearest one if it is a likely typo, one with the same
 * start or end, or all names.
 *
 * @param name Given name.
 * @param candidates Valid names.
 * @returns End of an error message.
 *
 * @example
 * ```ts
 * import { hintAt } from "@bellman/files/options";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(hintAt("gama", ["tau", "gamma"]), "did you mean 'gamma'?");
 * assertEquals(hintAt("lr", ["tau", "gamma"]), "expected one of tau, gamma");
 * ```
 */
export function hintAt(name: string, candidates: readonly string[]): string {
  if (candidates.length === 0) return "there is none";
  const part = name.toLowerCase();
  const whole = part.length < SHORTEST_PART ? undefined : candidates.find(
    (it) =>
      it.toLowerCase().startsWith(part) || it.toLowerCase().endsWith(part),
  );
  const guess = whole ?? typoOf(name, candidates);
  if (guess !== undefined) return `did you mean '${guess}'?`;
  const rest = candidates.length - MOST_NAMES;
  return `expected ${candidates.length === 1 ? "" : "one of "}${
    candidates.slice(0, MOST_NAMES).join(", ")
  }${rest > 0 ? ` or ${rest} more` : ""}`;
}

/**
 * Throws for unknown options, and suggests the nearest name.
 *
 * @param given Given options; undefined ones count as left out.
 * @param names Names of valid options.
 * @param what What the options are of.
 * @throws {TypeError} If there is one, or they are no object.
 *
 * @example
 * ```ts
 * import { refuseUnknown } from "@bellman/files/options";
 * import { assertThrows } from "@std/assert";
 *
 * assertThrows(
 *   () => refuseUnknown({ sede: 1 }, ["seed", "config"], "an agent"),
 *   TypeError,
 *   "Unknown option 'sede' of an agent: did you mean 'seed'?",
 * );
 * ```
 */
export function refuseUnknown(
  given: object,
  names: readonly string[],
  what: string,
): void {
  // A list, or a map, has no options by name.
  if (
    typeof given !== "object" || given === null || Symbol.iterator in given
  ) {
    throw new TypeError(
      `Cannot take ${
        inspect(given)
      } as the options of ${what}: expected an object`,
    );
  }
  const name = Object.entries(given)
    .find(([it, value]) => value !== undefined && !names.includes(it))?.[0];
  if (name === undefined) return;
  throw new TypeError(
    `Unknown option '${name}' of ${what}: ${
      names.length === 0 ? "it has none" : hintAt(name, names)
    }`,
  );
}

/**
 * Kind of an option: `typeof` of its values, their description, and a check of a value
 * of such a type.
 */
export type OptionKind = readonly [
  types: string | readonly string[],
  expected: string,
  isFine?: (value: never) => boolean,
];

/**
 * Kind of each option.
 *
 * @typeParam T The options.
 */
export type OptionKinds<T> = Readonly<Record<keyof T & string, OptionKind>>;

/** True or false. */
export const FLAG: OptionKind = ["boolean", "true or false"];

/** A number. */
export const NUMBER: OptionKind = ["number", "a number"];

/** A text. */
export const TEXT: OptionKind = ["string", "a text"];

/** An object of any form. */
export const OBJECT: OptionKind = ["object", "an object"];

/** A function. */
export const FUNCTION: OptionKind = ["function", "a function"];

/** List of texts. */
export const TEXTS: OptionKind = [
  "object",
  "a list of texts",
  (value: object) =>
    Array.isArray(value) && value.every((it) => typeof it === "string"),
];

/**
 * Returns true for a whole number of at least so much.
 *
 * @param value Any value.
 * @param least Smallest number.
 *
 * @example
 * ```ts
 * import { isWhole } from "@bellman/files/options";
 * import { assert } from "@std/assert";
 *
 * assert(isWhole(2, 1) && !isWhole(0, 1) && !isWhole("2", 1));
 * ```
 */
export function isWhole(value: unknown, least: number): boolean {
  return Number.isSafeInteger(value) && value as number >= least;
}

/**
 * Makes the kind of whole numbers of at least so much.
 *
 * @param least Smallest number.
 *
 * @example
 * ```ts
 * import { whole } from "@bellman/files/options";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(whole(1)[1], "a whole number of at least 1");
 * ```
 */
export function whole(least: number): OptionKind {
  const expected = `a whole number of at least ${least}`;
  return ["number", expected, (value: number) => isWhole(value, least)];
}

/**
 * Makes the kind of some words.
 *
 * @param words The words.
 *
 * @example
 * ```ts
 * import { oneOf } from "@bellman/files/options";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(oneOf("first", "last")[1], "first, last");
 * ```
 */
export function oneOf(...words: readonly string[]): OptionKind {
  return ["string", words.join(", "), (value: string) => words.includes(value)];
}

/**
 * Drops options that are undefined, which count as left out.
 *
 * @param options The options.
 * @returns A new object.
 *
 * @example
 * ```ts
 * import { givenOptions } from "@bellman/files/options";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(Object.keys(givenOptions({ a: undefined, b: 0 })), ["b"]);
 * ```
 */
export function givenOptions<T extends object>(options: T): T {
  const given = Object.entries(options).filter(([, it]) => it !== undefined);
  return Object.fromEntries(given) as T;
}

/**
 * Checks that options are known, and each of its kind.
 *
 * @param what What is made with them.
 * @param options The options; undefined ones count as left out.
 * @param kinds Kind of each one.
 * @returns Those that were given.
 * @throws {TypeError} If one is unknown, or of another type.
 * @throws {RangeError} If a value of the right type does not fit.
 *
 * @example
 * ```ts
 * import { checkOptions, oneOf } from "@bellman/files/options";
 * import { assertThrows } from "@std/assert";
 *
 * const kinds = { padding: oneOf("reset", "zero") };
 * assertThrows(
 *   () => checkOptions("a stack", { padding: "zeros" }, kinds),
 *   RangeError,
 *   'Cannot make a stack with padding "zeros": expected reset, zero',
 * );
 * ```
 */
export function checkOptions<T extends object>(
  what: string,
  options: T,
  kinds: OptionKinds<T>,
): T {
  refuseUnknown(options, Object.keys(kinds), what);
  const given = givenOptions(options);
  for (const [name, value] of Object.entries(given)) {
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
