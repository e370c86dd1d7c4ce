/**
 * The Arcade Learning Environment: Atari 2600 games, with the ids, settings and
 * rewards that they have in Gymnasium.
 *
 * @example
 * ```ts
 * import { make } from "@bellman/envs";
 * import { isAtariInstalled } from "@bellman/envs/atari";
 * import { assertEquals } from "@std/assert";
 *
 * if (isAtariInstalled()) {
 *   const env = make("ALE/Pong-v5");
 *   assertEquals(env.observationSpace.type, "box");
 *   env.close();
 * }
 * ```
 *
 * @module
 */
import "./register.ts";

export * from "./ale.ts";
export type { Palette } from "./_palettes.ts";
export type { AleOptions } from "./ale_options.ts";
export * from "./atari.ts";
export * from "./atari_actions.ts";
export * from "./atari_env.ts";
export * from "./atari_ids.ts";
export type { AtariEnvOptions } from "./atari_options.ts";
export * from "./atari_vec_env.ts";
export * from "./is_atari_installed.ts";
export type {
  PreprocessingOptions,
  PreprocessingPreset,
} from "./preprocessing_options.ts";
export { ATARI_GAMES, type AtariGame, atariGame } from "./roms.ts";
export * from "./preprocess/area_resizer.ts";
export * from "./preprocess/gray.ts";
export type { GameStatistics } from "./_game_tally.ts";
export * from "./wrappers/episode_info.ts";
export * from "./wrappers/episodic_life.ts";
export * from "./wrappers/fire_reset.ts";
export * from "./wrappers/frameskip.ts";
export * from "./wrappers/game_limit.ts";
export * from "./wrappers/info_clear.ts";
export * from "./wrappers/noop_reset.ts";
export * from "./wrappers/preprocess_frame.ts";
export * from "./wrappers/render.ts";
