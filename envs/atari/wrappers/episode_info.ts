import { type AtariInside, atariInside } from "../_atari_inside.ts";
import type { Env, StepResult } from "../../env.ts";
import { type GameStatistics, GameTally } from "../_game_tally.ts";
import type { Snapshot } from "../../snapshot.ts";
import type { SpaceValue } from "../../space.ts";
import { EnvWrapper } from "../../wrappers/env_wrapper.ts";

const NONE: readonly GameStatistics[] = [];

/**
 * Tells the games that ended: in `info.episodes` of each step stands a list of
 * them, mostly an empty one, with the true score, the steps and the score of each
 * life. The scores of the lives add up to that of the game.
 *
 * It belongs inside of wrappers that end episodes with lives or clip rewards. A
 * game that a `reset` cuts off is not told: give the time limit to the game
 * itself, as {@linkcode atari} does.
 *
 * `EpisodeInfoWrapper` of jrobine/actor-critic.
 *
 * @example
 * ```ts
 * import { AtariEnv, EpisodeInfo, isAtariInstalled } from "@bellman/envs/atari";
 * import type { EpisodeStatistics } from "@bellman/envs";
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
export class EpisodeInfo extends EnvWrapper {
  #game: AtariInside;
  #tally: GameTally = new GameTally();

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
   * @param options A seed starts the random streams anew.
   * @returns The first observation.
   */
  override reset(options?: { seed?: number }): SpaceValue {
    const observation = super.reset(options);
    this.#tally.begin(this.#game.lives);
    return observation;
  }

  /**
   * Takes one step.
   *
   * @param action What to do.
   * @returns What came of it, with the game if it ended.
   */
  override step(action: SpaceValue): StepResult {
    const result = super.step(action);
    const { terminated, truncated } = result;
    this.#tally.add(result.reward, this.#game.lives);
    const episodes = terminated || truncated
      ? [this.#tally.end(terminated)]
      : NONE;
    return { ...result, info: { ...result.info, episodes } };
  }

  /**
   * The sums so far.
   *
   * @returns Plain data.
   */
  protected override ownState(): Snapshot {
    return this.#tally.save();
  }

  /**
   * Goes on from sums.
   *
   * @param state What `ownState` returned.
   */
  protected override loadOwnState(state: Snapshot): void {
    this.#tally.load(state);
  }
}
