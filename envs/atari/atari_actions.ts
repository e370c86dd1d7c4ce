/**
 * What each of the emulator's actions presses, by its number.
 *
 * @example
 * ```ts
 * import { ATARI_ACTIONS } from "@bellman/envs/atari";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(ATARI_ACTIONS[10], "UPFIRE");
 * ```
 */
export const ATARI_ACTIONS: readonly string[] = [
  "NOOP",
  "FIRE",
  "UP",
  "RIGHT",
  "LEFT",
  "DOWN",
  "UPRIGHT",
  "UPLEFT",
  "DOWNRIGHT",
  "DOWNLEFT",
  "UPFIRE",
  "RIGHTFIRE",
  "LEFTFIRE",
  "DOWNFIRE",
  "UPRIGHTFIRE",
  "UPLEFTFIRE",
  "DOWNRIGHTFIRE",
  "DOWNLEFTFIRE",
];
