import { atariInside } from "../_atari_inside.ts";
import type { Env, SpaceValue, StateTree, StepResult } from "@bellman/types";
import { fireActions } from "../_fire_actions.ts";
import { EnvWrapper } from "../../wrappers/env_wrapper.ts";
import { HiddenSteps } from "./_hidden_steps.ts";

/**
 * Presses FIRE after each reset, and then the next action, since some games wait
 * for that to begin. Games without FIRE are left as they are.
 *
 * `AtariFireResetWrapper` of jrobine/actor-critic, `FireResetEnv` of baselines.
 * Where the game ends in one of these steps, this returns the new one's
 * observation; baselines returns the old one's.
 *
 * @example
 * ```ts
 * import { AtariEnv, FireReset, isAtariInstalled } from "@bellman/envs/atari";
 * import { assertEquals } from "@std/assert";
 *
 * if (isAtariInstalled()) {
 *   const game = new AtariEnv("breakout", { frameskip: 1 });
 *   const env = new FireReset(game);
 *   env.reset({ seed: 0 });
 *   assertEquals(game.actionMeanings.slice(0, 3), ["NOOP", "FIRE", "RIGHT"]);
 *   env.close();
 * }
 * ```
 */
export class FireReset extends EnvWrapper {
  #hidden: HiddenSteps;
  #actions: readonly number[];

  /**
   * Wraps a game.
   *
   * @param env The game, or wrappers around one.
   * @throws {TypeError} If there is no Atari game inside.
   */
  constructor(env: Env) {
    super(env);
    this.#hidden = new HiddenSteps(env);
    this.#actions = fireActions(atariInside(env, "FireReset").actionMeanings);
  }

  /**
   * Starts an episode.
   *
   * @param options A seed starts the random streams anew.
   * @returns The observation after FIRE.
   */
  override reset(options: { seed?: number } = {}): SpaceValue {
    let observation = super.reset(options);
    if (options.seed !== undefined) this.#hidden.forget();
    for (const action of this.#actions) observation = this.#hidden.take(action);
    return observation;
  }

  /**
   * Takes one step.
   *
   * @param action What to do.
   * @returns What came of it, with the games that ended unseen before it.
   */
  override step(action: SpaceValue): StepResult {
    return this.#hidden.tell(super.step(action));
  }

  /**
   * What was not told.
   *
   * @returns Plain data.
   */
  protected override ownState(): StateTree {
    return this.#hidden.save();
  }

  /**
   * Goes on with what was not told.
   *
   * @param state What `ownState` returned.
   */
  protected override loadOwnState(state: StateTree): void {
    this.#hidden.load(state);
  }
}
