import { type AtariInside, atariInside } from "../_atari_inside.ts";
import type { Env, SpaceValue, StateTree, StepResult } from "@bellman/types";
import { type GameStatistics, GameTally } from "../_game_tally.ts";
import { snapshotRecord } from "../../snapshot.ts";
import { EnvWrapper } from "../../wrappers/env_wrapper.ts";

const NONE: readonly GameStatistics[] = [];

/**
 * Tells the games that ended: in `info.episodes` of each step stands a list of
 * them, mostly an empty one, with the true score, the steps and the score of each
 * life. The scores of the lives add up to that of the game.
 *
 * It belongs inside of wrappers that end episodes with lives or clip rewards. A
 * game that a `reset` cuts off is not told; for one that a limit of steps cuts
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
export class EpisodeInfo extends EnvWrapper {
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
   * @param options A seed starts the random streams anew.
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
   * @param action What to do.
   * @returns What came of it, with the game if it ended.
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
   * The sums so far, and whether more follows.
   *
   * @returns Plain data.
   */
  protected override ownState(): StateTree {
    return { tally: this.#tally.save(), isUnderWay: this.#isUnderWay };
  }

  /**
   * Goes on from such a state.
   *
   * @param state What `ownState` returned.
   */
  protected override loadOwnState(state: StateTree): void {
    const { tally, isUnderWay } = snapshotRecord(state, [
      "tally",
      "isUnderWay",
    ]);
    this.#tally.load(tally);
    this.#isUnderWay = isUnderWay as boolean;
  }
}
