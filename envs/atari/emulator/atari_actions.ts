import type { AtariGame } from "./roms.ts";

/** What each of the emulator's actions presses, by its number. */
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

/** What can be done in a game. */
export interface GameActions {
  /** The emulator's number of each action. */
  readonly numbers: readonly number[];
  /** What each action presses. */
  readonly meanings: readonly string[];
}

/** A game's own actions, or all that there are. */
export function gameActions(game: AtariGame, isFull: boolean): GameActions {
  const numbers = isFull
    ? ATARI_ACTIONS.map((_, number) => number)
    : game.minimalActions;
  return { numbers, meanings: numbers.map((it) => ATARI_ACTIONS[it]) };
}
