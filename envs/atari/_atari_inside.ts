import type { Env } from "@bellman/types";
import { findInside } from "./_find_inside.ts";

/** What wrappers need to know of a game, besides what every environment tells. */
export interface AtariInside {
  /** Lives that are left; 0 where the game has none. */
  readonly lives: number;
  /** What each action presses, such as `NOOP` or `UPFIRE`. */
  readonly actionMeanings: readonly string[];
}

function isAtari(env: Env): env is Env & AtariInside {
  return "lives" in env && "actionMeanings" in env;
}

/**
 * The game under any number of wrappers.
 *
 * @throws {TypeError} If it is none.
 */
export function atariInside(env: Env, wrapper: string): AtariInside {
  return findInside(env, isAtari, { name: wrapper, expected: "an Atari game" });
}
