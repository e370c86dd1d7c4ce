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
import { registerAtari } from "./atari.ts";

export { atari, registerAtari } from "./atari.ts";
export { AtariEnv, type AtariEnvOptions } from "./atari_env.ts";
export * from "./atari_vec_env.ts";
export { Ale, type AleOptions } from "./emulator/ale.ts";
export {
  ATARI_ACTIONS,
  ATARI_GAMES,
  type AtariGame,
  atariGame,
} from "./emulator/roms.ts";
export { isAtariInstalled } from "./emulator/installed.ts";
export type { Palette } from "./emulator/palettes.ts";
export {
  AreaResizer,
  type AreaResizerOptions,
  type ImageSize,
} from "./preprocess/area_resizer.ts";
export * from "./preprocess/gray.ts";
export type {
  AtariOptions,
  PreprocessingOptions,
  PreprocessingPreset,
} from "./preprocessing_options.ts";
export type { GameStatistics } from "./wrappers/game_rules.ts";
export * from "./wrappers/episode_info.ts";
export * from "./wrappers/frames.ts";
export * from "./wrappers/render.ts";
export * from "./wrappers/resets.ts";

registerAtari();
