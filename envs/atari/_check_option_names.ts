import { givenOptions, unknownOption } from "../_checks.ts";
import { ATARI_OPTIONS } from "./atari_options.ts";
import { PREPROCESSING_OPTIONS } from "./preprocessing_options.ts";

/**
 * Throws unless a game made by name has such options.
 *
 * @throws {TypeError} If it does not, with the nearest one.
 */
export function checkOptionNames(
  id: string,
  { preprocessing, ...options }: Readonly<Record<string, unknown>>,
): void {
  const isRaw = preprocessing === undefined;
  const known = isRaw ? ATARI_OPTIONS : PREPROCESSING_OPTIONS;
  const given = Object.keys(givenOptions(options));
  const unknown = given.find((it) => !Object.hasOwn(known, it));
  if (unknown === undefined) return;
  if (isRaw && Object.hasOwn(PREPROCESSING_OPTIONS, unknown)) {
    throw new TypeError(
      `Cannot make ${id} with '${unknown}': that is for preprocessed games, as with preprocessing: 'baselines'`,
    );
  }
  throw unknownOption(id, unknown, ["preprocessing", ...Object.keys(known)]);
}
