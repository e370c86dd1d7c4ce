import type { EnvSpec } from "@bellman/types";
import {
  checkOptions,
  FLAG,
  hintAt,
  isWhole,
  oneOf,
  type OptionKinds,
  whole,
} from "@bellman/files/options";
import { ALE_OPTIONS } from "./emulator/ale.ts";
import type { ImageSize } from "./preprocess/area_resizer.ts";

/** Names of the standard settings of {@linkcode PreprocessingOptions}. */
export type PreprocessingPreset =
  | "baselines"
  | "deepmind"
  | "gymnasium"
  | "machado";

/**
 * Preprocessing of a game. A preset gives all settings, and each can be given
 * by itself:
 *
 * | setting                   | baselines | deepmind | gymnasium | machado |
 * | ------------------------- | --------- | -------- | --------- | ------- |
 * | `noopMax`                 | 30        | 30       | 30        | 0       |
 * | `frameskip`               | 4         | 4        | 4         | 5       |
 * | `maximum`                 | color     | color    | gray      | color   |
 * | `terminalOnLifeLoss`      | true      | true     | false     | false   |
 * | `fireReset`               | true      | false    | false     | false   |
 * | `clipReward`              | true      | true     | false     | true    |
 * | `repeatActionProbability` | 0         | 0        | 0.25      | 0.25    |
 * | `fullActionSpace`         | false     | false    | false     | true    |
 * | `maxNumFramesPerEpisode`  | 108,000   | 108,000  | 108,000   | 18,000  |
 *
 * `baselines` is OpenAI's, with which A2C, ACER and ACKTR were measured, and
 * that of jrobine/actor-critic. `deepmind` is that of Mnih et al. (2015) and of
 * dqn_zoo: the agent itself has to press FIRE. `gymnasium` is its
 * `AtariPreprocessing` around the games of v5, with the sticky actions of Machado
 * et al. (2018). `machado` is what these recommend: sticky actions instead of
 * random starts, whole games of five minutes at most, and all 18 actions. In all of
 * them frames are averaged over areas, where Mnih et al. interpolated, and four are
 * stacked.
 */
export interface PreprocessingOptions {
  /**
   * Preset of the settings that are not given.
   *
   * @default "baselines"
   */
  preset?: PreprocessingPreset;
  /**
   * The most frames without an action at a game's start; from 1 to as many are
   * drawn. With 0 there are none.
   *
   * @default that of the preset
   */
  noopMax?: number;
  /**
   * Frames of a step.
   *
   * @default that of the preset
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
   * True where an episode ends with each life; the game continues in the next
   * one.
   *
   * @default that of the preset
   */
  terminalOnLifeLoss?: boolean;
  /**
   * True where FIRE is pressed at the start of each episode.
   *
   * @default that of the preset
   */
  fireReset?: boolean;
  /**
   * True where rewards are clipped to -1, 0 and 1.
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
   * Axis along which frames are stacked: the last, `[84, 84, 4]`, or a first
   * one, `[4, 84, 84, 1]`.
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
   * True where all 18 actions can be taken, not only those that the game knows.
   *
   * @default that of the preset
   */
  fullActionSpace?: boolean;
  /**
   * Frames after which a game is truncated.
   *
   * @default that of the preset
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

/** Settings of {@linkcode atari}. */
export interface AtariOptions extends PreprocessingOptions {
  /**
   * Steps after which an episode is truncated; a game that this cuts off is told
   * among the episodes, and another begins.
   *
   * @default Infinity
   */
  maxEpisodeSteps?: number;
}

/** Settings of which each is known, but for those that depend on the game. */
export type PreprocessingSettings =
  & Required<Omit<PreprocessingOptions, "preset" | "mode" | "difficulty">>
  & Pick<PreprocessingOptions, "mode" | "difficulty">;

/** Half an hour and five minutes at 60 frames a second. */
const HALF_AN_HOUR = 108_000, FIVE_MINUTES = 18_000;

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
  machado: {
    ...BASELINES,
    noopMax: 0,
    frameskip: 5,
    terminalOnLifeLoss: false,
    fireReset: false,
    repeatActionProbability: 0.25,
    fullActionSpace: true,
    maxNumFramesPerEpisode: FIVE_MINUTES,
  },
};

const { mode, difficulty, repeatActionProbability, maxNumFramesPerEpisode } =
  ALE_OPTIONS;

/** Kind of each setting but the preset. */
export const PREPROCESSING_OPTIONS: OptionKinds<
  Omit<PreprocessingOptions, "preset">
> = {
  noopMax: whole(0),
  frameskip: whole(1),
  maximum: oneOf("color", "gray"),
  terminalOnLifeLoss: FLAG,
  fireReset: FLAG,
  clipReward: FLAG,
  size: [
    "object",
    "width and height of at least 1, both whole numbers",
    (it: ImageSize) => isWhole(it.width, 1) && isWhole(it.height, 1),
  ],
  frameStack: whole(1),
  stackAxis: oneOf("first", "last"),
  repeatActionProbability,
  fullActionSpace: FLAG,
  maxNumFramesPerEpisode,
  mode,
  difficulty,
};

/**
 * Resolves a preset and options to settings.
 *
 * @param id The game that they are for.
 * @throws {RangeError} If there is no such preset, or one is out of range.
 * @throws {TypeError} If there is none of a name, or it is of another type.
 */
export function resolvePreprocessing(
  id: string,
  { preset = "baselines", ...own }: PreprocessingOptions,
): PreprocessingSettings {
  if (!Object.hasOwn(PRESETS, preset)) {
    const hint = hintAt(String(preset), Object.keys(PRESETS));
    throw new RangeError(`Unknown preprocessing '${preset}': ${hint}`);
  }
  return {
    ...PRESETS[preset],
    ...checkOptions(id, own, PREPROCESSING_OPTIONS),
  };
}

/** Picks the settings of the emulator. */
export function emulatorOptions(settings: PreprocessingSettings): Pick<
  PreprocessingSettings,
  "mode" | "difficulty" | "repeatActionProbability" | "maxNumFramesPerEpisode"
> {
  const { mode, difficulty } = settings;
  const { repeatActionProbability, maxNumFramesPerEpisode } = settings;
  return { mode, difficulty, repeatActionProbability, maxNumFramesPerEpisode };
}

/**
 * Makes the specification of a game with a limit of steps, its own or that of its
 * frames; `Infinity` is none.
 */
export function limitedSpec(
  id: string,
  { maxEpisodeSteps, frameskip, maxNumFramesPerEpisode }: {
    maxEpisodeSteps: number;
    frameskip: number | readonly [number, number];
    maxNumFramesPerEpisode: number;
  },
): EnvSpec {
  const [fewest] = [frameskip].flat();
  const steps = Math.ceil(maxNumFramesPerEpisode / fewest);
  const limit = Math.min(maxEpisodeSteps, steps);
  return limit === Infinity ? { id } : { id, maxEpisodeSteps: limit };
}
