import { unknownOption } from "../_unknown_option.ts";
import type { AtariEnvOptions } from "./atari_options.ts";
import type { PreprocessingOptions } from "./preprocessing_options.ts";

/** The options of a raw game; the types see to it that none is left out. */
const RAW: Readonly<Record<keyof AtariEnvOptions, true>> = {
  obsType: true,
  systemSeed: true,
  frameskip: true,
  repeatActionProbability: true,
  fullActionSpace: true,
  maxNumFramesPerEpisode: true,
  mode: true,
  difficulty: true,
};

/** The options of a preprocessed game, but for the preset. */
const PREPROCESSED: Readonly<
  Record<Exclude<keyof PreprocessingOptions, "preset">, true>
> = {
  noopMax: true,
  frameskip: true,
  maximum: true,
  terminalOnLifeLoss: true,
  fireReset: true,
  clipReward: true,
  size: true,
  frameStack: true,
  stackAxis: true,
  repeatActionProbability: true,
  fullActionSpace: true,
  maxNumFramesPerEpisode: true,
  mode: true,
  difficulty: true,
};

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
  const known = isRaw ? RAW : PREPROCESSED;
  const unknown = Object.keys(options).find((it) => !Object.hasOwn(known, it));
  if (unknown === undefined) return;
  if (isRaw && Object.hasOwn(PREPROCESSED, unknown)) {
    throw new TypeError(
      `Cannot make ${id} with '${unknown}': that is for preprocessed games, as with preprocessing: 'baselines'`,
    );
  }
  throw unknownOption(id, unknown, Object.keys(known));
}
