/** Bad input, and the hints in its message: nothing here needs a runtime. */
import { closest, distance } from "fastest-levenshtein";

/**
 * Bad input of a person: the message is one line that says what was wrong and
 * what was expected. The command line prints it and exits with 2.
 *
 * @example
 * ```ts
 * import { UsageError } from "@bellman/cli";
 * import { assertEquals } from "@std/assert";
 *
 * const error = new UsageError("Cannot read steps 'many': expected an integer");
 * assertEquals(error.name, "UsageError");
 * ```
 */
export class UsageError extends Error {
  /** The name that distinguishes this error from others. */
  override name = "UsageError";

  /**
   * Makes an error.
   *
   * @param message One line; line breaks in quoted text become spaces.
   * @param options The cause.
   */
  constructor(message: string, options?: ErrorOptions) {
    super(message.replaceAll(/\s*[\r\n]\s*/g, " "), options);
  }
}

/** Returns the candidate with the fewest edits from `name`, ignoring case. */
export function nearest(name: string, candidates: readonly string[]): string {
  const lower = name.toLowerCase();
  const byLower = new Map(candidates.map((it) => [it.toLowerCase(), it]));
  return byLower.get(closest(lower, [...byLower.keys()]))!;
}

/**
 * Returns true if `name` is near enough to `candidate` to be a typo of it: up to a
 * third of the letters differ.
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
 * Suggests which of some names was meant: the nearest one where it is near, one that
 * begins or ends with it, or else all that there are.
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
