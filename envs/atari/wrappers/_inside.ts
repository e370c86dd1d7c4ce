import type { Env } from "@bellman/types";
import { EnvWrapper } from "../../wrappers/env_wrapper.ts";

/**
 * What a wrapper needs, which is the environment or under wrappers around it.
 *
 * @param isIt Which one that is.
 * @param wrapper The wrapper, and what it expects.
 * @throws {TypeError} If there is none.
 */
export function findInside<T extends Env>(
  env: Env,
  isIt: (inner: Env) => inner is T,
  wrapper: { name: string; expected: string },
): T {
  let inner = env;
  while (!isIt(inner)) {
    if (!(inner instanceof EnvWrapper)) {
      throw new TypeError(
        `Cannot wrap ${
          env.spec?.id ?? "an environment"
        } with ${wrapper.name}: expected ${wrapper.expected}`,
      );
    }
    inner = inner.env;
  }
  return inner;
}

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
