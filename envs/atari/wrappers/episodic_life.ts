import { type AtariInside, atariInside } from "../_atari_inside.ts";
import { checkNoop } from "../_check_noop.ts";
import type { Env, SpaceValue, StateTree, StepResult } from "@bellman/types";
import { isLifeLost } from "../_game_tally.ts";
import { snapshotRecord } from "../../snapshot.ts";
import { EnvWrapper } from "../../wrappers/env_wrapper.ts";
import { HiddenSteps } from "./_hidden_steps.ts";

const NOOP = 0;

/**
 * Ends the learner's episode with each life that is lost, while the game goes
 * on: the step in which one is lost is `terminated`, and the `reset` that follows
 * takes a step without an action in the same game. Only after the game's own end,
 * by its rules or by its time limit, is it really reset.
 *
 * `AtariEpisodicLifeWrapper` of jrobine/actor-critic, `EpisodicLifeEnv` of
 * baselines. There, a reset in the midst of a life goes on with the game as well,
 * and so does one after a time limit outside of this wrapper; here both begin a
 * new game, so that no episode is a part of another.
 *
 * @example
 * ```ts
 * import { AtariEnv, EpisodicLife, isAtariInstalled } from "@bellman/envs/atari";
 * import { assertEquals } from "@std/assert";
 *
 * if (isAtariInstalled()) {
 *   const game = new AtariEnv("breakout");
 *   const env = new EpisodicLife(game);
 *   env.reset({ seed: 0 });
 *   while (!env.step(1).terminated);
 *   assertEquals(game.lives, 4);
 *   env.reset();
 *   assertEquals(game.lives, 4);
 *   env.close();
 * }
 * ```
 */
export class EpisodicLife extends EnvWrapper {
  #hidden: HiddenSteps;
  #game: AtariInside;
  #lives = 0;
  #isBetweenLives = false;

  /**
   * Wraps a game.
   *
   * @param env The game, or wrappers around one.
   * @throws {TypeError} If there is no Atari game inside, or its action 0 does
   * something; that of all 18 actions does nothing.
   */
  constructor(env: Env) {
    super(env);
    this.#hidden = new HiddenSteps(env);
    this.#game = atariInside(env, "EpisodicLife");
    checkNoop(this.#game.actionMeanings);
  }

  /**
   * Starts the next life, or a game.
   *
   * @param options A seed starts a game and the random streams anew.
   * @returns The first observation.
   */
  override reset(options: { seed?: number } = {}): SpaceValue {
    const goesOn = this.#isBetweenLives && options.seed === undefined;
    const observation = goesOn ? this.#hidden.take(NOOP) : super.reset(options);
    if (options.seed !== undefined) this.#hidden.forget();
    this.#isBetweenLives = false;
    this.#lives = this.#game.lives;
    return observation;
  }

  /**
   * Takes one step.
   *
   * @param action What to do.
   * @returns What came of it, terminated if a life was lost.
   * @throws {Error} If a life was lost in the step before.
   */
  override step(action: SpaceValue): StepResult {
    if (this.#isBetweenLives) {
      throw new Error(
        "Cannot step as a life was lost in the step before: call reset first",
      );
    }
    const result = this.#hidden.tell(super.step(action));
    const { lives } = this.#game;
    const isLost = isLifeLost(this.#lives, lives);
    this.#lives = lives;
    if (!isLost) return result;
    this.#isBetweenLives = !result.terminated && !result.truncated;
    return { ...result, terminated: true };
  }

  /**
   * Lives, and whether one was just lost.
   *
   * @returns Plain data.
   */
  protected override ownState(): StateTree {
    return {
      hidden: this.#hidden.save(),
      lives: this.#lives,
      isBetweenLives: this.#isBetweenLives,
    };
  }

  /**
   * Goes on with such a state.
   *
   * @param state What `ownState` returned.
   */
  protected override loadOwnState(state: StateTree): void {
    const own = snapshotRecord(state, ["hidden", "lives", "isBetweenLives"]);
    this.#hidden.load(own.hidden);
    this.#lives = own.lives as number;
    this.#isBetweenLives = own.isBetweenLives as boolean;
  }
}
