import { AtariEnv } from "./atari_env.ts";
import type { Env } from "../env.ts";
import { gameOfId } from "./_game_of_id.ts";
import {
  emulatorOptions,
  type PreprocessingOptions,
  resolvePreprocessing,
} from "./preprocessing_options.ts";
import { ClipReward } from "../wrappers/clip_reward.ts";
import { FrameStack } from "../wrappers/frame_stack.ts";
import { EpisodeInfo } from "./wrappers/episode_info.ts";
import { EpisodicLife } from "./wrappers/episodic_life.ts";
import { FireReset } from "./wrappers/fire_reset.ts";
import { Frameskip } from "./wrappers/frameskip.ts";
import { NoopReset } from "./wrappers/noop_reset.ts";
import { PreprocessFrame } from "./wrappers/preprocess_frame.ts";

/**
 * An Atari game with the standard preprocessing around it, in the order of
 * baselines: no-op starts, skipped frames, true scores, episodes of lives, FIRE,
 * small gray frames, clipped rewards, stacks.
 *
 * Each step's `info.episodes` tells the games that ended, with their true scores
 * and those of their lives ({@linkcode EpisodeInfo}).
 *
 * For many copies, {@linkcode AtariVecEnv} is faster and gives the same numbers.
 *
 * @param id The game, as `ALE/Pong-v5`, `PongNoFrameskip-v4` or `pong`; its
 * settings are those of the options, whatever the id's version.
 * @param options A preset's name, and settings that differ from it.
 * @returns The environment; its observations are `[84, 84, 4]` bytes.
 * @throws {RangeError} If there is no such game or preset, or a number is out of
 * its range.
 * @throws {TypeError} If there is no such setting.
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
export function atari(id: string, options: PreprocessingOptions = {}): Env {
  const settings = resolvePreprocessing(options);
  const { size } = settings;
  const game = new AtariEnv(gameOfId(id).id, {
    ...emulatorOptions(settings),
    obsType: settings.maximum === "color" ? "rgb" : "grayscale",
    frameskip: 1,
    fullActionSpace: settings.fullActionSpace,
  });
  let env: Env = new NoopReset(game as Env, { max: settings.noopMax });
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
