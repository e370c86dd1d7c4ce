import { closest } from "fastest-levenshtein";
import type { ImageSize } from "./preprocess/area_resizer.ts";

/**
 * Names of the standard settings of {@linkcode PreprocessingOptions}.
 *
 * @example
 * ```ts
 * import type { PreprocessingPreset } from "@bellman/envs/atari";
 * import { assertEquals } from "@std/assert";
 *
 * const preset: PreprocessingPreset = "deepmind";
 * assertEquals(preset.length, 8);
 * ```
 */
export type PreprocessingPreset = "baselines" | "deepmind" | "gymnasium";

/**
 * How a game is preprocessed. A preset gives all settings, and each can be given
 * by itself:
 *
 * | setting                   | baselines | deepmind | gymnasium |
 * | ------------------------- | --------- | -------- | --------- |
 * | `noopMax`                 | 30        | 30       | 30        |
 * | `frameskip`               | 4         | 4        | 4         |
 * | `maximum`                 | color     | color    | gray      |
 * | `terminalOnLifeLoss`      | true      | true     | false     |
 * | `fireReset`               | true      | false    | false     |
 * | `clipReward`              | true      | true     | false     |
 * | `repeatActionProbability` | 0         | 0        | 0.25      |
 *
 * `baselines` is OpenAI's, with which A2C, ACER and ACKTR were measured, and
 * that of jrobine/actor-critic. `deepmind` is that of Mnih et al. (2015) and of
 * dqn_zoo: the agent itself has to press FIRE. `gymnasium` is its
 * `AtariPreprocessing` around the games of v5, with the sticky actions of Machado
 * et al. (2018). In all of them frames are averaged over areas, where Mnih et al.
 * interpolated, four are stacked, and a game lasts half an hour at most.
 *
 * @example
 * ```ts
 * import type { PreprocessingOptions } from "@bellman/envs/atari";
 * import { assertEquals } from "@std/assert";
 *
 * const options: PreprocessingOptions = { preset: "baselines", clipReward: false };
 * assertEquals(options.preset, "baselines");
 * ```
 */
export interface PreprocessingOptions {
  /**
   * Where the settings that are not given come from.
   *
   * @default "baselines"
   */
  preset?: PreprocessingPreset;
  /**
   * The most frames without an action at a game's start; from 1 to as many are
   * drawn. With 0 there are none.
   *
   * @default 30
   */
  noopMax?: number;
  /**
   * Frames of a step.
   *
   * @default 4
   */
  frameskip?: number;
  /**
   * Of what the maximum of a step's last two frames is taken: of red, green and
   * blue, or of grays.
   *
   * @default that of the preset
   */
  maximum?: "color" | "gray";
  /**
   * Whether an episode ends with each life; the game goes on in the next one.
   *
   * @default that of the preset
   */
  terminalOnLifeLoss?: boolean;
  /**
   * Whether FIRE is pressed at the start of each episode.
   *
   * @default that of the preset
   */
  fireReset?: boolean;
  /**
   * Whether rewards are clipped to -1, 0 and 1.
   *
   * @default that of the preset
   */
  clipReward?: boolean;
  /**
   * Size of the frames.
   *
   * @default { width: 84, height: 84 }
   */
  size?: ImageSize;
  /**
   * Frames of an observation.
   *
   * @default 4
   */
  frameStack?: number;
  /**
   * Whether frames are stacked along the last axis, `[84, 84, 4]`, or along a
   * first one, `[4, 84, 84, 1]`.
   *
   * @default "last"
   */
  stackAxis?: "first" | "last";
  /**
   * Probability that a frame repeats the action before ("sticky actions").
   *
   * @default that of the preset
   */
  repeatActionProbability?: number;
  /**
   * Whether all 18 actions can be taken, not only those that the game knows.
   *
   * @default false
   */
  fullActionSpace?: boolean;
  /**
   * Frames after which a game is truncated.
   *
   * @default 108000
   */
  maxNumFramesPerEpisode?: number;
  /**
   * The game's mode.
   *
   * @default the game's first one
   */
  mode?: number;
  /**
   * The game's difficulty.
   *
   * @default the game's own, as if the switch was never touched
   */
  difficulty?: number;
}

/** Settings of which each is known, but for those that depend on the game. */
export type PreprocessingSettings =
  & Required<Omit<PreprocessingOptions, "preset" | "mode" | "difficulty">>
  & Pick<PreprocessingOptions, "mode" | "difficulty">;

/** Half an hour at 60 frames a second. */
const HALF_AN_HOUR = 108_000;

const BASELINES: PreprocessingSettings = {
  noopMax: 30,
  frameskip: 4,
  maximum: "color",
  terminalOnLifeLoss: true,
  fireReset: true,
  clipReward: true,
  size: { width: 84, height: 84 },
  frameStack: 4,
  stackAxis: "last",
  repeatActionProbability: 0,
  fullActionSpace: false,
  maxNumFramesPerEpisode: HALF_AN_HOUR,
  mode: undefined,
  difficulty: undefined,
};

const PRESETS: Readonly<Record<PreprocessingPreset, PreprocessingSettings>> = {
  baselines: BASELINES,
  deepmind: { ...BASELINES, fireReset: false },
  gymnasium: {
    ...BASELINES,
    maximum: "gray",
    terminalOnLifeLoss: false,
    fireReset: false,
    clipReward: false,
    repeatActionProbability: 0.25,
  },
};

/** Settings that are one of some words. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  maximum: ["color", "gray"],
  stackAxis: ["first", "last"],
};

/** Settings that are true or false. */
const FLAGS: readonly string[] = Object.entries(BASELINES)
  .filter(([, value]) => typeof value === "boolean")
  .map(([key]) => key);

const nearest = (name: unknown, names: readonly string[]): string =>
  closest(String(name), [...names]);

function checkEntry(key: string, value: unknown): void {
  const known = Object.keys(BASELINES);
  if (!known.includes(key)) {
    throw new TypeError(
      `Cannot preprocess a game with '${key}': did you mean '${
        nearest(key, known)
      }'?`,
    );
  }
  const isFlag = FLAGS.includes(key);
  if (isFlag && typeof value !== "boolean") {
    throw new TypeError(
      `Cannot preprocess a game with ${key} '${value}': expected true or false`,
    );
  }
  const words = WORDS[key];
  if (words === undefined || words.includes(value as string)) return;
  throw new RangeError(
    `Cannot preprocess a game with ${key} '${value}': did you mean '${
      nearest(value, words)
    }'?`,
  );
}

/**
 * The settings that a preset and options stand for.
 *
 * @throws {RangeError} If there is no such preset, or a word is none of those
 * that there are.
 * @throws {TypeError} If there is no such setting.
 */
export function resolvePreprocessing(
  options: PreprocessingOptions,
): PreprocessingSettings {
  const { preset = "baselines", ...own } = options;
  if (!Object.hasOwn(PRESETS, preset)) {
    throw new RangeError(
      `Unknown preprocessing '${preset}': did you mean '${
        nearest(preset, Object.keys(PRESETS))
      }'?`,
    );
  }
  const settings: Record<string, unknown> = { ...PRESETS[preset] };
  for (const [key, value] of Object.entries(own)) {
    if (value === undefined) continue;
    checkEntry(key, value);
    settings[key] = value;
  }
  return settings as unknown as PreprocessingSettings;
}

/** The settings of the emulator among them. */
export function emulatorOptions(settings: PreprocessingSettings): Pick<
  PreprocessingSettings,
  "mode" | "difficulty" | "repeatActionProbability" | "maxNumFramesPerEpisode"
> {
  const { repeatActionProbability, maxNumFramesPerEpisode } = settings;
  const own = { repeatActionProbability, maxNumFramesPerEpisode };
  const { mode, difficulty } = settings;
  return {
    ...own,
    ...mode === undefined ? {} : { mode },
    ...difficulty === undefined ? {} : { difficulty },
  };
}
