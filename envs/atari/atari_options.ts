import type { AleOptions } from "./ale_options.ts";

/**
 * Settings of {@linkcode AtariEnv}: ale-py's, with its defaults.
 *
 * @example
 * ```ts
 * import { AtariEnv, type AtariEnvOptions, isAtariInstalled } from "@bellman/envs/atari";
 * import { assertEquals } from "@std/assert";
 *
 * const options: AtariEnvOptions = { obsType: "ram", frameskip: [2, 5] };
 * if (isAtariInstalled()) {
 *   const env = new AtariEnv("pong", options);
 *   assertEquals(env.observationSpace.shape, [128]);
 *   env.close();
 * }
 * ```
 */
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

const OBS_TYPES = ["rgb", "grayscale", "ram"];

function frameRange(
  frameskip: number | readonly [number, number],
): readonly [number, number] {
  const range = typeof frameskip === "number"
    ? [frameskip, frameskip + 1] as const
    : frameskip;
  const [low, high] = range;
  const isWhole = range.length === 2 && range.every(Number.isInteger);
  if (isWhole && low >= 1 && low < high) return range;
  throw new RangeError(
    `Cannot repeat an action for ${
      JSON.stringify(frameskip)
    } frames: expected a whole number of at least 1, or two that rise`,
  );
}

/**
 * All settings with their defaults. The emulator checks its own.
 *
 * @throws {RangeError} If one is out of range.
 */
export function resolveAtariOptions(
  options: AtariEnvOptions,
): ResolvedAtariOptions {
  const {
    obsType = "rgb",
    frameskip = 4,
    fullActionSpace = false,
    repeatActionProbability = 0.25,
    ...ale
  } = options;
  if (!OBS_TYPES.includes(obsType)) {
    throw new RangeError(
      `Cannot observe '${obsType}': expected ${OBS_TYPES.join(", ")}`,
    );
  }
  return {
    obsType,
    frameskip: frameRange(frameskip),
    fullActionSpace,
    ale: { ...ale, repeatActionProbability },
  };
}
