import { checkSeed } from "../_check_seed.ts";
import type { AtariGame } from "./roms.ts";

/**
 * Settings of {@linkcode Ale}.
 *
 * @example
 * ```ts
 * import { Ale, type AleOptions, isAtariInstalled } from "@bellman/envs/atari";
 * import { assertEquals } from "@std/assert";
 *
 * const options: AleOptions = { mode: 4, difficulty: 1 };
 * if (isAtariInstalled()) {
 *   using ale = new Ale("breakout", options);
 *   assertEquals(ale.mode, 4);
 * }
 * ```
 */
export interface AleOptions {
  /**
   * The game's mode, one of {@linkcode AtariGame}'s modes.
   *
   * @default the game's first mode
   */
  mode?: number;
  /**
   * The difficulty, one of {@linkcode Ale.difficulties}.
   *
   * @default the game's own, as if the switch was never touched
   */
  difficulty?: number;
  /**
   * Probability that at a frame the action before is repeated ("sticky
   * actions"), from 0 to 1.
   *
   * @default 0
   */
  repeatActionProbability?: number;
  /**
   * Frames after which an episode is truncated; `Infinity` for no limit.
   *
   * @default Infinity
   */
  maxNumFramesPerEpisode?: number;
  /**
   * Seed of the sticky actions; its lowest 32 bits count.
   *
   * @default 0
   */
  seed?: number;
  /**
   * Seed of what memory and timers hold when the console is switched on; its
   * lowest 31 bits count. ale-py never changes it.
   *
   * @default 4753849
   */
  systemSeed?: number;
}

/**
 * All settings, those of a game checked.
 *
 * @throws {RangeError} If one is out of range.
 */
export function resolveAleOptions(
  game: AtariGame,
  options: AleOptions,
): Required<Omit<AleOptions, "difficulty">> & Pick<AleOptions, "difficulty"> {
  const all = {
    mode: game.modes[0],
    repeatActionProbability: 0,
    maxNumFramesPerEpisode: Infinity,
    seed: 0,
    systemSeed: 4753849,
    ...options,
  };
  const { repeatActionProbability: chance, maxNumFramesPerEpisode: max } = all;
  if (!(chance >= 0 && chance <= 1)) {
    throw new RangeError(
      `Cannot repeat actions with probability ${chance}: expected 0 to 1`,
    );
  }
  if (max !== Infinity && !(Number.isInteger(max) && max >= 1)) {
    throw new RangeError(
      `Cannot limit episodes to ${max} frames: expected a whole number of at least 1`,
    );
  }
  checkOneOf(all.mode, game.modes, `mode of ${game.id}`);
  checkSeed(all.seed);
  checkSeed(all.systemSeed);
  return all;
}

/**
 * Checks that a number is one of some.
 *
 * @throws {RangeError} If it is none of them; the message lists them.
 */
export function checkOneOf(
  value: number,
  allowed: readonly number[],
  what: string,
): void {
  if (allowed.includes(value)) return;
  throw new RangeError(
    `There is no ${what} ${value}: there are ${allowed.join(", ")}`,
  );
}
