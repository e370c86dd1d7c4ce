import {
  CHANCE,
  checkOptions,
  FRAME_LIMIT,
  type OptionKinds,
  whole,
} from "./_check_options.ts";
import type { AtariGame } from "./roms.ts";

/** Settings of {@linkcode Ale}. */
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

/** What each setting can be; modes and difficulties depend on the game, too. */
export const ALE_OPTIONS: OptionKinds<AleOptions> = {
  mode: whole(0),
  difficulty: whole(0),
  repeatActionProbability: CHANCE,
  maxNumFramesPerEpisode: FRAME_LIMIT,
  seed: whole(0),
  systemSeed: whole(0),
};

/**
 * All settings, checked but for the difficulty, which a running game knows.
 *
 * @throws {RangeError} If one is out of range.
 * @throws {TypeError} If there is none of a name, or it is of another type.
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
    ...checkOptions(game.id, options, ALE_OPTIONS),
  };
  checkOneOf(all.mode, game.modes, `mode of ${game.id}`);
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
