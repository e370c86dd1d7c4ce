import type { Env } from "@bellman/types";
import { checkStepLimit } from "../_checks.ts";
import { givenOptions, refuseUnknown } from "@bellman/files/options";
import {
  type EnvRegistration,
  register,
  type RegistryOptions,
} from "../registry/registry.ts";
import { FrameStack } from "../wrappers/frame_stack.ts";
import { TimeLimit } from "../wrappers/time_limit.ts";
import { ClipReward } from "../wrappers/transforms.ts";
import { ATARI_OPTIONS, AtariEnv, type AtariEnvOptions } from "./atari_env.ts";
import { AtariVecEnv } from "./atari_vec_env.ts";
import { ATARI_GAMES, type AtariGame, gameOfId } from "./emulator/roms.ts";
import {
  type AtariOptions,
  emulatorOptions,
  limitedSpec,
  PREPROCESSING_OPTIONS,
  type PreprocessingPreset,
  type PreprocessingSettings,
  resolvePreprocessing,
} from "./preprocessing_options.ts";
import { EpisodeInfo, GameLimit } from "./wrappers/episode_info.ts";
import { Frameskip, PreprocessFrame } from "./wrappers/frames.ts";
import { EpisodicLife, FireReset, NoopReset } from "./wrappers/resets.ts";

/**
 * Makes an Atari game with the standard preprocessing around it, in the order
 * of baselines: no-op starts, skipped frames, true scores, episodes of lives,
 * FIRE, small gray frames, clipped rewards, stacks, a limit of steps.
 *
 * Each step's `info.episodes` lists the games that ended, with their true scores
 * and those of their lives ({@linkcode EpisodeInfo}).
 *
 * For many environments, {@linkcode AtariVecEnv} is faster and gives the same
 * numbers.
 *
 * @param id The game, as `ALE/Pong-v5`, `PongNoFrameskip-v4` or `pong`; its
 * settings are those of the options, whatever the id's version.
 * @param options A preset's name, and settings that differ from it.
 * @returns The environment; its observations are `[84, 84, 4]` bytes.
 * @throws {RangeError} If there is no such game or preset, or a number is out of
 * its range.
 * @throws {TypeError} If there is no such setting, it is of another type, or
 * steps without an action are needed where action 0 does something.
 * @throws {Error} If the emulator or the ROM is missing.
 * @example
 * ```ts
 * import { atari, isAtariInstalled } from "@bellman/envs/atari";
 * import { assertEquals } from "@std/assert";
 *
 * if (isAtariInstalled()) {
 *   const env = atari("ALE/Breakout-v5", { preset: "deepmind" });
 *   const observation = env.reset({ seed: 0 });
 *   assertEquals(observation.length, 84 * 84 * 4);
 *   env.close();
 * }
 * ```
 */
export function atari(
  id: string,
  options: AtariOptions = {},
): Env<Uint8Array, number> {
  const { maxEpisodeSteps = Infinity, ...rest } = options;
  checkStepLimit(maxEpisodeSteps);
  const settings = resolvePreprocessing(id, rest);
  const game = new AtariEnv(gameOfId(id).id, {
    ...emulatorOptions(settings),
    obsType: settings.maximum === "color" ? "rgb" : "grayscale",
    frameskip: 1,
    fullActionSpace: settings.fullActionSpace,
  });
  try {
    const spec = limitedSpec(id, { maxEpisodeSteps, ...settings });
    const env = preprocessed(game as Env, settings);
    const limited: Env = new GameLimit(env, maxEpisodeSteps, { spec });
    return limited as Env<Uint8Array, number>;
  } catch (error) {
    game.close();
    throw error;
  }
}

function preprocessed(game: Env, settings: PreprocessingSettings): Env {
  const { size } = settings;
  let env: Env = new NoopReset(game, { max: settings.noopMax });
  env = new Frameskip(env, { skip: settings.frameskip });
  env = new EpisodeInfo(env);
  if (settings.terminalOnLifeLoss) env = new EpisodicLife(env);
  if (settings.fireReset) env = new FireReset(env);
  env = new PreprocessFrame(env, { size });
  if (settings.clipReward) env = new ClipReward(env);
  return new FrameStack(env, {
    size: settings.frameStack,
    axis: settings.stackAxis,
  });
}

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
  if (
    unknown !== undefined && isRaw &&
    Object.hasOwn(PREPROCESSING_OPTIONS, unknown)
  ) {
    throw new TypeError(
      `Cannot make ${id} with '${unknown}': that is for preprocessed games, as with preprocessing: 'baselines'`,
    );
  }
  refuseUnknown(options, ["preprocessing", ...Object.keys(known)], id);
}

/** Thirty minutes of play. */
const MAX_FRAMES = 108_000;

type Settings = Required<
  Pick<AtariEnvOptions, "frameskip" | "repeatActionProbability">
>;

/** Lists a game's ids in Gymnasium, with the settings in which they differ. */
function settingsOf({ name, isLegacy }: AtariGame): Map<string, Settings> {
  const ids = new Map<string, Settings>([
    [`ALE/${name}-v5`, { frameskip: 4, repeatActionProbability: 0.25 }],
  ]);
  if (!isLegacy) return ids;
  const skips = [["", [2, 5]], ["NoFrameskip", 1]] as const;
  for (const [suffix, frameskip] of skips) {
    for (const [version, chance] of [["v0", 0.25], ["v4", 0]] as const) {
      const settings = { frameskip, repeatActionProbability: chance };
      ids.set(`${name}${suffix}-${version}`, settings);
    }
  }
  return ids;
}

/** Option that selects preprocessing. */
interface Preprocessing {
  preprocessing?: PreprocessingPreset;
}

/**
 * Makes the raw game, and the preprocessed one on request;
 * limited.
 */
function forms(
  id: string,
  defaults: Settings & { maxNumFramesPerEpisode: number },
  raw: (kwargs: AtariEnvOptions) => Env,
): Pick<EnvRegistration, "make" | "makeVec"> {
  return {
    make(kwargs, { maxEpisodeSteps = Infinity } = {}) {
      const { preprocessing: preset, ...rest } = kwargs as Preprocessing;
      checkOptionNames(id, kwargs);
      if (preset !== undefined) {
        return atari(id, { maxEpisodeSteps, preset, ...rest });
      }
      checkStepLimit(maxEpisodeSteps);
      const game = raw(rest), frames = { ...defaults, ...givenOptions(rest) };
      const spec = limitedSpec(id, { maxEpisodeSteps, ...frames });
      return new TimeLimit(game, maxEpisodeSteps, { spec });
    },
    makeVec({ numEnvs, maxEpisodeSteps, kwargs }) {
      const { preprocessing: preset, ...rest } = kwargs as Preprocessing;
      if (preset === undefined) return undefined;
      checkOptionNames(id, kwargs);
      return new AtariVecEnv(id, {
        numEnvs,
        maxEpisodeSteps,
        preset,
        ...rest,
      });
    },
  };
}

/**
 * Makes the Atari games known by the ids that Gymnasium has with ale-py 0.12.1:
 * `ALE/Pong-v5`, and for the games of old `Pong-v0`, `Pong-v4`,
 * `PongNoFrameskip-v0` and `PongNoFrameskip-v4`. Importing this module does so in
 * the default registry; the library is opened when an environment is made.
 *
 * With `preprocessing` among the options, the name of a preset, the game is
 * {@linkcode atari}'s, and many environments are an {@linkcode AtariVecEnv}:
 * `makeVec("ALE/Pong-v5", { numEnvs: 8, kwargs: { preprocessing: "baselines" }
 * })`. The other options are those of {@linkcode PreprocessingOptions} then.
 *
 * @param options Registry that they are kept in.
 * @example
 * ```ts
 * import { type EnvRegistry, registeredIds } from "@bellman/envs";
 * import { registerAtari } from "@bellman/envs/atari";
 * import { assert } from "@std/assert";
 *
 * const registry: EnvRegistry = new Map();
 * registerAtari({ registry });
 * assert(registeredIds({ registry }).includes("ALE/MsPacman-v5"));
 * ```
 */
export function registerAtari(options: RegistryOptions = {}): void {
  for (const game of ATARI_GAMES.values()) {
    for (const [id, settings] of settingsOf(game)) {
      const defaults = { ...settings, maxNumFramesPerEpisode: MAX_FRAMES };
      const single = (kwargs: AtariEnvOptions) =>
        new AtariEnv(game.id, { ...defaults, ...givenOptions(kwargs) });
      register(
        { id, limitsItself: true, ...forms(id, defaults, single) },
        options,
      );
    }
  }
}
