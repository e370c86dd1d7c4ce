import { ALE_OPTIONS, type AleOptions } from "./ale_options.ts";
import {
  checkOptions,
  FLAG,
  FRAME_RANGE,
  oneOf,
  type OptionKinds,
} from "./_check_options.ts";

/** Settings of {@linkcode AtariEnv}: ale-py's, with its defaults. */
export interface AtariEnvOptions
  extends Omit<AleOptions, "repeatActionProbability" | "seed"> {
  /**
   * What is seen: the screen in colour, `[height, width, 3]`, or in gray,
   * `[height, width]`, or the console's memory, `[128]`; always bytes.
   *
   * @default "rgb"
   */
  obsType?: "rgb" | "grayscale" | "ram";
  /**
   * Frames that an action is repeated for: a number, or for each step another
   * one from the first number up to and without the second.
   *
   * @default 4
   */
  frameskip?: number | readonly [number, number];
  /**
   * Probability that at a frame the action before is repeated ("sticky
   * actions"), from 0 to 1.
   *
   * @default 0.25
   */
  repeatActionProbability?: number;
  /**
   * Whether all 18 actions can be taken, and not only those that do something
   * in the game.
   *
   * @default false
   */
  fullActionSpace?: boolean;
}

/** All settings, checked; those of the emulator apart. */
export interface ResolvedAtariOptions {
  obsType: "rgb" | "grayscale" | "ram";
  frameskip: readonly [number, number];
  fullActionSpace: boolean;
  ale: AleOptions;
}

const { seed: _, ...EMULATOR } = ALE_OPTIONS;

/** What each setting can be. */
export const ATARI_OPTIONS: OptionKinds<AtariEnvOptions> = {
  ...EMULATOR,
  obsType: oneOf("rgb", "grayscale", "ram"),
  frameskip: FRAME_RANGE,
  fullActionSpace: FLAG,
};

/**
 * All settings with their defaults. The emulator checks its own against the game.
 *
 * @param game What they are for.
 * @throws {RangeError} If one is out of range.
 * @throws {TypeError} If there is none of a name, or it is of another type.
 */
export function resolveAtariOptions(
  game: string,
  options: AtariEnvOptions,
): ResolvedAtariOptions {
  const {
    obsType = "rgb",
    frameskip = 4,
    fullActionSpace = false,
    repeatActionProbability = 0.25,
    ...ale
  } = checkOptions(game, options, ATARI_OPTIONS);
  return {
    obsType,
    frameskip: typeof frameskip === "number"
      ? [frameskip, frameskip + 1]
      : frameskip,
    fullActionSpace,
    ale: { ...ale, repeatActionProbability },
  };
}
