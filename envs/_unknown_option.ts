import { closest } from "fastest-levenshtein";

/** The error of an option that an environment does not have. */
export function unknownOption(
  what: string,
  name: string,
  known: readonly string[],
): TypeError {
  return new TypeError(
    `Cannot make ${what} with '${name}': did you mean '${
      closest(name, known)
    }'?`,
  );
}
