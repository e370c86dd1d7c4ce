import type { Env } from "@bellman/types";
import { checkStepLimit } from "../_checks.ts";
import { FrameStack } from "../wrappers/frame_stack.ts";
import { ClipReward } from "../wrappers/transforms.ts";
import { AtariEnv } from "./atari_env.ts";
import { gameOfId } from "./emulator/roms.ts";
import {
  emulatorOptions,
  limitedSpec,
  type PreprocessingOptions,
  type PreprocessingSettings,
  resolvePreprocessing,
} from "./preprocessing_options.ts";
import { EpisodeInfo, GameLimit } from "./wrappers/episode_info.ts";
import { Frameskip, PreprocessFrame } from "./wrappers/frames.ts";
import { EpisodicLife, FireReset, NoopReset } from "./wrappers/resets.ts";

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

/**
 * Makes an Atari game with the standard preprocessing around it, in the order
 * of baselines: no-op starts, skipped frames, true scores, episodes of lives,
 * FIRE, small gray frames, clipped rewards, stacks, a limit of steps.
 *
 * Each step's `info.episodes` tells the games that ended, with their true scores
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
 *   const observation = env.reset({ seed: 0 }) as Uint8Array;
 *   assertEquals(observation.length, 84 * 84 * 4);
 *   env.close();
 * }
 * ```
 */
export function atari(id: string, options: AtariOptions = {}): Env {
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
    const spec = limitedSpec(id, maxEpisodeSteps);
    const env = preprocessed(game as Env, settings);
    return new GameLimit(env, maxEpisodeSteps, { spec });
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
