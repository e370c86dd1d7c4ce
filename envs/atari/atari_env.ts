import type {
  BoxSpace,
  DiscreteSpace,
  Env,
  RenderOptions,
  RgbImage,
  StateTree,
  StepResult,
} from "@bellman/types";
import { checkPictureSize } from "../_checks.ts";
import { Episodes } from "../_episodes.ts";
import { checkReset, checkSeed, DEFAULT_SEED, RESET } from "../random.ts";
import { snapshotRecord } from "../snapshot.ts";
import { checkAction } from "../spaces/_action_rows.ts";
import { box, discrete } from "../spaces/constructors.ts";
import { seedSequence } from "./emulator/_ale_random.ts";
import {
  checkOptions,
  FLAG,
  isWhole,
  oneOf,
  type OptionKinds,
} from "@bellman/files/options";
import { Ale, ALE_OPTIONS, type AleOptions } from "./emulator/ale.ts";
import { gameActions } from "./emulator/roms.ts";

/** Settings of {@linkcode AtariEnv}: ale-py's, with its defaults. */
export interface AtariEnvOptions
  extends Omit<AleOptions, "repeatActionProbability" | "seed"> {
  /**
   * Observation: the screen in colour, `[height, width, 3]`, or in gray,
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
   * True where all 18 actions can be taken, and not only those that do
   * something in the game.
   *
   * @default false
   */
  fullActionSpace?: boolean;
}

const { seed: _, ...EMULATOR } = ALE_OPTIONS;

/** Finds out if frames of a step, or two between which they are drawn, can be. */
function isFrameRange(value: number | object): boolean {
  if (!Array.isArray(value)) return isWhole(value, 1);
  const [low, high] = value;
  return value.length === 2 && isWhole(low, 1) && isWhole(high, low + 1);
}

/** Kind of each setting. */
export const ATARI_OPTIONS: OptionKinds<AtariEnvOptions> = {
  ...EMULATOR,
  obsType: oneOf("rgb", "grayscale", "ram"),
  frameskip: [
    ["number", "object"],
    "a whole number of at least 1, or two that rise",
    isFrameRange,
  ],
  fullActionSpace: FLAG,
};

/**
 * Draws a picture in another size; each pixel is the nearest one, so that games keep
 * their hard edges.
 */
function scaledImage(
  image: RgbImage,
  { width = image.width, height = image.height }: RenderOptions,
): RgbImage {
  checkPictureSize(width, height, 16384);
  if (width === image.width && height === image.height) return image;
  const data = new Uint8Array(3 * width * height);
  for (let y = 0, to = 0; y < height; y++) {
    const row = Math.floor((y + 0.5) * image.height / height) * image.width;
    for (let x = 0; x < width; x++, to += 3) {
      const from = 3 * (row + Math.floor((x + 0.5) * image.width / width));
      data[to] = image.data[from];
      data[to + 1] = image.data[from + 1];
      data[to + 2] = image.data[from + 2];
    }
  }
  return { width, height, data };
}

/**
 * An Atari 2600 game with the settings and the rules of ale-py's environment for
 * Gymnasium, version 5 (Machado et al., 2018): a step repeats its action for
 * some frames, and each frame may repeat the action before instead.
 *
 * A step's `info` has `lives`, `episodeFrameNumber` and `frameNumber`.
 *
 * Of one seed, sticky actions are those of Gymnasium. The game itself begins two
 * frames later than ale-py's, since the library that is called adds them.
 *
 * @example
 * ```ts
 * import { AtariEnv, isAtariInstalled } from "@bellman/envs/atari";
 * import { assertEquals } from "@std/assert";
 *
 * if (isAtariInstalled()) {
 *   const env = new AtariEnv("breakout", { obsType: "grayscale" });
 *   env.reset({ seed: 1 });
 *   const { observation, info } = env.step(1);
 *   assertEquals(observation.length, 210 * 160);
 *   assertEquals(info?.lives, 5);
 *   env.close();
 * }
 * ```
 */
export class AtariEnv implements Env<Uint8Array, number> {
  /** Bytes of the screen or of the memory. */
  readonly observationSpace: BoxSpace;
  /** One number for each action that the game knows. */
  readonly actionSpace: DiscreteSpace;
  /** Buttons of each action, such as `NOOP` or `UPFIRE`. */
  readonly actionMeanings: readonly string[];
  /** The emulator. */
  readonly ale: Ale;

  #actions: readonly number[];
  #obsType: AtariEnvOptions["obsType"];
  /** From this many frames a step, up to and without as many. */
  #frameskip: readonly [number, number];
  #episodes: Episodes;

  /**
   * Loads a game.
   *
   * @param game The ROM's file name without its ending, such as
   * `space_invaders`.
   * @param options Kind of observation, frames a step, and the emulator's
   * settings.
   * @throws {RangeError} If there is no such game, or a setting is out of range.
   * @throws {TypeError} If there is no such setting, or it is of another type.
   * @throws {Error} If library or ROM are missing, or the ROM is another one.
   */
  constructor(game: string, options: AtariEnvOptions = {}) {
    const {
      obsType = "rgb",
      frameskip = 4,
      fullActionSpace = false,
      repeatActionProbability = 0.25,
      ...ale
    } = checkOptions(game, options, ATARI_OPTIONS);
    const [frameSeed, seed] = seedSequence(DEFAULT_SEED, 2);
    this.ale = new Ale(game, { ...ale, repeatActionProbability, seed });
    this.#episodes = new Episodes(game, frameSeed);
    this.#frameskip = typeof frameskip === "number"
      ? [frameskip, frameskip + 1]
      : frameskip;
    this.#obsType = obsType;
    const actions = gameActions(this.ale.game, fullActionSpace);
    this.#actions = actions.numbers;
    this.actionMeanings = actions.meanings;
    this.actionSpace = discrete(this.#actions.length);
    const { height, width } = this.ale;
    const shapes = {
      rgb: [height, width, 3],
      grayscale: [height, width],
      ram: [128],
    };
    const shape = shapes[obsType];
    this.observationSpace = box({ low: 0, high: 255, dtype: "uint8", shape });
  }

  /** Steps of a second of play, on average: the console shows 60 frames a second. */
  get framesPerSecond(): number {
    const [low, high] = this.#frameskip;
    return 60 / ((low + high - 1) / 2);
  }

  /** Lives that are left; games without lives have 0 or 1. */
  get lives(): number {
    return this.ale.lives;
  }

  /**
   * Starts an episode.
   *
   * @param options A seed restarts the random streams and loads the game
   * again, as in Gymnasium.
   * @returns The first observation.
   * @throws {RangeError} If the seed is not a whole number of at least 0.
   */
  reset(options: { seed?: number } = {}): Uint8Array {
    checkReset(options, RESET);
    let frameSeed: number | undefined;
    if (options.seed !== undefined) {
      checkSeed(options.seed);
      const [first, seed] = seedSequence(options.seed, 2);
      this.ale.reload(seed);
      frameSeed = first;
    }
    this.ale.reset();
    this.#episodes.begin(frameSeed);
    return this.#observation();
  }

  /**
   * Takes one step.
   *
   * @param action Number of an action that {@linkcode AtariEnv.actionMeanings}
   * names.
   * @returns The step's result; truncated at the frame limit.
   * @throws {RangeError} If the action is not of the action space.
   * @throws {Error} If no episode is under way.
   */
  step(action: number): StepResult<Uint8Array> {
    checkAction(this.actionSpace, action);
    this.#episodes.checkRunning();
    const { ale } = this;
    const pressed = this.#actions[action];
    let reward = 0;
    for (let frames = this.#drawFrames(); frames > 0; frames--) {
      reward += ale.act(pressed);
    }
    const { lives, episodeFrameNumber, frameNumber, truncated } = ale;
    const terminated = ale.gameOver;
    if (terminated || truncated) this.#episodes.stage = "ended";
    const info = { lives, episodeFrameNumber, frameNumber };
    const observation = this.#observation();
    return { observation, reward, terminated, truncated, info };
  }

  #drawFrames(): number {
    const [low, high] = this.#frameskip;
    return high - low === 1
      ? low
      : low + this.#episodes.random.integer(high - low);
  }

  #observation(): Uint8Array {
    if (this.#obsType === "ram") return this.ale.ram();
    return this.#obsType === "grayscale" ? this.ale.gray() : this.ale.rgb();
  }

  /**
   * Saves emulator, random streams and counters.
   *
   * @returns Plain data that later steps do not change.
   */
  save(): StateTree {
    return { ale: this.ale.save(), ...this.#episodes.save() };
  }

  /**
   * Restores a snapshot.
   *
   * @param snapshot The state that `save` of an environment with this game and
   * these settings returned, also in another process.
   * @throws {TypeError} If it is no such snapshot.
   */
  load(snapshot: StateTree): void {
    const keys = ["ale", "random", "status"];
    const { ale, ...episodes } = snapshotRecord(snapshot, keys);
    this.ale.load(ale);
    this.#episodes.load(episodes);
  }

  /**
   * Draws the screen.
   *
   * @param options The picture's size; by default the screen's, 160 pixels wide.
   * @returns The picture.
   * @throws {RangeError} If the size is not of whole numbers of at least 1.
   */
  render(options: RenderOptions = {}): RgbImage {
    const { width, height } = this.ale;
    return scaledImage({ width, height, data: this.ale.rgb() }, options);
  }

  /** Frees the emulator; no episode can be played any more. */
  close(): void {
    this.ale.close();
  }
}
