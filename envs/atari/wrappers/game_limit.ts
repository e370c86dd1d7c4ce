import type { Env, SpaceValue, StepResult } from "@bellman/types";
import { TimeLimit, type TimeLimitOptions } from "../../wrappers/time_limit.ts";
import { findInside } from "../_find_inside.ts";
import type { GameStatistics } from "../_game_tally.ts";
import { EpisodeInfo } from "./episode_info.ts";

function isEpisodeInfo(env: Env): env is EpisodeInfo {
  return env instanceof EpisodeInfo;
}

/**
 * Truncates an episode after a number of steps, as {@linkcode TimeLimit} does. A
 * game that this cuts off is told with those that ended ({@linkcode EpisodeInfo}),
 * and another one follows.
 *
 * It is the outermost wrapper. Where episodes are lives, each has so many steps;
 * one that ends in its last step cuts nothing off, and its game goes on.
 *
 * @example
 * ```ts
 * import { AtariEnv, EpisodeInfo, GameLimit, isAtariInstalled } from "@bellman/envs/atari";
 * import type { EpisodeStatistics } from "@bellman/types";
 * import { assertEquals } from "@std/assert";
 *
 * if (isAtariInstalled()) {
 *   const env = new GameLimit(new EpisodeInfo(new AtariEnv("pong")), 2);
 *   env.reset({ seed: 0 });
 *   env.step(0);
 *   const { truncated, info } = env.step(0);
 *   const [game] = info?.episodes as EpisodeStatistics[];
 *   assertEquals([truncated, game.length, game.terminated], [true, 2, false]);
 *   env.close();
 * }
 * ```
 */
export class GameLimit extends TimeLimit {
  #games: EpisodeInfo;

  /**
   * Limits a game.
   *
   * @param env Wrappers around a game, {@linkcode EpisodeInfo} among them.
   * @param maxEpisodeSteps Steps of the longest episode; `Infinity` for no limit.
   * @param options What it is known as.
   * @throws {RangeError} If the limit is not a whole number of at least 1.
   * @throws {TypeError} If there is no {@linkcode EpisodeInfo} inside.
   */
  constructor(
    env: Env,
    maxEpisodeSteps: number,
    options: TimeLimitOptions = {},
  ) {
    super(env, maxEpisodeSteps, options);
    this.#games = findInside(env, isEpisodeInfo, {
      name: "GameLimit",
      expected: "EpisodeInfo inside",
    });
  }

  /**
   * Takes one step, truncated if it was the last one allowed.
   *
   * @param action What to do.
   * @returns What came of it, with the game if it was cut off.
   */
  override step(action: SpaceValue): StepResult {
    const result = super.step(action);
    // After a life, too, the step is terminated: its game goes on.
    if (result.terminated || !result.truncated) return result;
    const game = this.#games.cutOff();
    if (game === undefined) return result;
    const ended = (result.info?.episodes ?? []) as GameStatistics[];
    const episodes = [...ended, game];
    return { ...result, info: { ...result.info, episodes } };
  }
}
