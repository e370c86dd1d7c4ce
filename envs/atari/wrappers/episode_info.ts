import type { Env, SpaceValue, StateTree, StepResult } from "@bellman/types";
import { snapshotRecord } from "../../snapshot.ts";
import { Wrapper } from "../../wrappers/wrapper.ts";
import { TimeLimit, type TimeLimitOptions } from "../../wrappers/time_limit.ts";
import {
  type AtariInside,
  atariInside,
  findInside,
  type GameStatistics,
  GameTally,
} from "./game_rules.ts";

const NONE: readonly GameStatistics[] = [];

/**
 * Reports the games that ended: `info.episodes` of each step lists them, mostly an
 * empty list, with the true score, the steps and the score of each life. The scores of the lives add up to that of the game.
 *
 * It belongs inside wrappers that end episodes with lives or clip rewards. A
 * game that a `reset` cuts off is not reported; for one that a limit of steps cuts
 * off there is {@linkcode GameLimit}.
 *
 * `EpisodeInfoWrapper` of jrobine/actor-critic.
 *
 * @example
 * ```ts
 * import { AtariEnv, EpisodeInfo, isAtariInstalled } from "@bellman/envs/atari";
 * import type { EpisodeStatistics } from "@bellman/types";
 * import { assertEquals } from "@std/assert";
 *
 * if (isAtariInstalled()) {
 *   const env = new EpisodeInfo(new AtariEnv("breakout"));
 *   env.reset({ seed: 0 });
 *   let result = env.step(1);
 *   while (!result.terminated) result = env.step(1);
 *   const [game] = result.info?.episodes as EpisodeStatistics[];
 *   assertEquals(game.lifeReturns?.length, 5);
 *   env.close();
 * }
 * ```
 */
export class EpisodeInfo extends Wrapper {
  #game: AtariInside;
  #tally: GameTally = new GameTally();
  #isUnderWay = false;

  /**
   * Wraps a game.
   *
   * @param env The game, or wrappers around one.
   * @throws {TypeError} If there is no Atari game inside.
   */
  constructor(env: Env) {
    super(env);
    this.#game = atariInside(env, "EpisodeInfo");
  }

  /**
   * Starts a game.
   *
   * @param options A seed restarts the random streams.
   * @returns The first observation.
   */
  override reset(options?: { seed?: number }): SpaceValue {
    const observation = super.reset(options);
    this.#tally.begin(this.#game.lives);
    this.#isUnderWay = true;
    return observation;
  }

  /**
   * Takes one step.
   *
   * @param action The action.
   * @returns The step's result, with the game if it ended.
   */
  override step(action: SpaceValue): StepResult {
    const result = super.step(action);
    const { terminated, truncated } = result;
    this.#tally.add(result.reward, this.#game.lives);
    const hasEnded = terminated || truncated;
    this.#isUnderWay = !hasEnded;
    const episodes = hasEnded ? [this.#tally.end(terminated)] : NONE;
    return { ...result, info: { ...result.info, episodes } };
  }

  /**
   * Ends the game where it is, for a wrapper that cuts it off.
   *
   * @returns The game so far; nothing if it has ended by itself, or has not begun.
   */
  cutOff(): GameStatistics | undefined {
    if (!this.#isUnderWay) return undefined;
    this.#isUnderWay = false;
    return this.#tally.end(false);
  }

  /**
   * Saves the sums so far, and if more follows.
   *
   * @returns Plain data.
   */
  protected override ownState(): StateTree {
    return { tally: this.#tally.save(), isUnderWay: this.#isUnderWay };
  }

  /**
   * Resumes from such a state.
   *
   * @param state The state that `ownState` returned.
   */
  protected override loadOwnState(state: StateTree): void {
    const keys = ["tally", "isUnderWay"];
    const { tally, isUnderWay } = snapshotRecord(state, keys);
    this.#tally.load(tally);
    this.#isUnderWay = isUnderWay as boolean;
  }
}

function isEpisodeInfo(env: Env): env is EpisodeInfo {
  return env instanceof EpisodeInfo;
}

/**
 * Truncates an episode after a number of steps, as {@linkcode TimeLimit} does. A
 * game that this cuts off is told with those that ended ({@linkcode EpisodeInfo}),
 * and another one follows.
 *
 * It is the outermost wrapper. Where episodes are lives, each has so many steps;
 * one that ends in its last step cuts nothing off, and its game continues.
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
   * @param options Its specification.
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
   * @param action The action.
   * @returns The step's result, with the game if it was cut off.
   */
  override step(action: SpaceValue): StepResult {
    const result = super.step(action);
    // After a life, too, the step is terminated: its game continues.
    if (result.terminated || !result.truncated) return result;
    const game = this.#games.cutOff();
    if (game === undefined) return result;
    const ended = (result.info?.episodes ?? []) as GameStatistics[];
    const episodes = [...ended, game];
    return { ...result, info: { ...result.info, episodes } };
  }
}

/** Settings of {@linkcode InfoClear}. */
export interface InfoClearOptions {
  /**
   * The entries that stay.
   *
   * @default ["episodes"]
   */
  keep?: readonly string[];
}

/**
 * Removes all of a step's `info` but some entries, so that less goes between
 * processes; by default what {@linkcode EpisodeInfo} tells stays.
 *
 * `AtariInfoClearWrapper` of jrobine/actor-critic. There, no wrapper that needs
 * lives may come after it; here the wrappers ask the game itself.
 *
 * @example
 * ```ts
 * import { InfoClear } from "@bellman/envs/atari";
 * import { ChainEnv, RecordEpisodeStatistics } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const chain = new RecordEpisodeStatistics(new ChainEnv({ length: 1 }));
 * const env = new InfoClear(chain);
 * env.reset({ seed: 0 });
 * assertEquals(env.step(0).info, undefined);
 * ```
 */
export class InfoClear extends Wrapper {
  #keep: readonly string[];

  /**
   * Wraps an environment.
   *
   * @param env The environment inside.
   * @param options Entries that stay.
   */
  constructor(env: Env, options: InfoClearOptions = {}) {
    super(env);
    this.#keep = [...options.keep ?? ["episodes"]];
  }

  /**
   * Takes one step.
   *
   * @param action The action.
   * @returns The step's result, with the entries that stay; without any, no
   * `info`.
   */
  override step(action: SpaceValue): StepResult {
    const { info = {}, ...result } = super.step(action);
    const kept = this.#keep.filter((key) => Object.hasOwn(info, key));
    if (kept.length === 0) return result;
    return {
      ...result,
      info: Object.fromEntries(kept.map((key) => [key, info[key]])),
    };
  }
}
