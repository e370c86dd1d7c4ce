/** Suggestions for misspelt names. */
import { closest, distance } from "fastest-levenshtein";

/**
 * Returns the candidate with the fewest edits from a name, ignoring case.
 *
 * @param name Given name.
 * @param candidates Valid names.
 *
 * @example
 * ```ts
 * import { nearest } from "@bellman/agent";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(nearest("gama", ["tau", "gamma"]), "gamma");
 * ```
 */
export function nearest(name: string, candidates: readonly string[]): string {
  const lower = name.toLowerCase();
  const byLower = new Map(candidates.map((it) => [it.toLowerCase(), it]));
  return byLower.get(closest(lower, [...byLower.keys()]))!;
}

/**
 * Returns true if a name is near enough to another to be a typo of it: up to a third
 * of the letters differ.
 *
 * @param name Given name.
 * @param candidate Valid name.
 *
 * @example
 * ```ts
 * import { isLikelyTypo } from "@bellman/agent";
 * import { assert } from "@std/assert";
 *
 * assert(isLikelyTypo("gama", "gamma"));
 * ```
 */
export function isLikelyTypo(name: string, candidate: string): boolean {
  // Of ids, the version says nothing.
  const [a, b] = [name, candidate]
    .map((it) => it.toLowerCase().replace(/-v\d*$/, ""));
  const [short, long] = [a.length, b.length].sort((x, y) => x - y);
  const edits = distance(a, b);
  return edits < short && edits <= Math.max(2, Math.ceil(long / 3));
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
 * import { hintAt } from "@bellman/agent";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(hintAt("gama", ["tau", "gamma"]), "did you mean 'gamma'?");
 * assertEquals(hintAt("lr", ["tau", "gamma"]), "expected one of tau, gamma");
 * ```
 */
export function hintAt(name: string, candidates: readonly string[]): string {
  const part = name.toLowerCase();
  const whole = part.length < SHORTEST_PART ? undefined : candidates.find(
    (it) =>
      it.toLowerCase().startsWith(part) || it.toLowerCase().endsWith(part),
  );
  const guess = whole ?? nearest(name, candidates);
  if (whole !== undefined || isLikelyTypo(name, guess)) {
    return `did you mean '${guess}'?`;
  }
  const rest = candidates.length - MOST_NAMES;
  return `expected ${candidates.length === 1 ? "" : "one of "}${
    candidates.slice(0, MOST_NAMES).join(", ")
  }${rest > 0 ? ` or ${rest} more` : ""}`;
}

/**
 * Throws for unknown options, and suggests the nearest name.
 *
 * @param given Given options.
 * @param names Names of valid options.
 * @param what What the options are of.
 * @throws {TypeError} If there is one, or they are no object.
 *
 * @example
 * ```ts
 * import { refuseUnknown } from "@bellman/agent";
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
  if (typeof given !== "object" || given === null) {
    throw new TypeError(`Cannot take ${given} as the options of ${what}`);
  }
  const name = Object.keys(given).find((it) => !names.includes(it));
  if (name === undefined) return;
  throw new TypeError(
    `Unknown option '${name}' of ${what}: ${hintAt(name, names)}`,
  );
}
