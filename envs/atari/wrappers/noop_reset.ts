import { atariInside } from "../_atari_inside.ts";
import { checkNoop } from "../_check_noop.ts";
import type { Env, SpaceValue, StateTree, StepResult } from "@bellman/types";
import { NoopStarts } from "../_noop_starts.ts";
import { snapshotRecord } from "../../snapshot.ts";
import { EnvWrapper } from "../../wrappers/env_wrapper.ts";
import { HiddenSteps } from "./_hidden_steps.ts";

const NOOP = 0;

/** Settings of {@linkcode NoopReset}. */
export interface NoopResetOptions {
  /**
   * The most steps without an action; from 1 to as many are drawn. With 0 there
   * are none.
   *
   * @default 30
   */
  max?: number;
}

/**
 * Begins each episode with a random number of steps without an action, so that
 * games without chance do not all begin alike.
 *
 * `AtariNoopResetWrapper` of jrobine/actor-critic, `NoopResetEnv` of baselines.
 *
 * @example
 * ```ts
 * import { AtariEnv, isAtariInstalled, NoopReset } from "@bellman/envs/atari";
 * import { assertNotEquals } from "@std/assert";
 *
 * if (isAtariInstalled()) {
 *   const env = new NoopReset(new AtariEnv("breakout"));
 *   env.reset({ seed: 1 });
 *   const one = env.save();
 *   env.reset();
 *   assertNotEquals(env.save(), one);
 *   env.close();
 * }
 * ```
 */
export class NoopReset extends EnvWrapper {
  #hidden: HiddenSteps;
  #starts: NoopStarts;

  /**
   * Wraps a game.
   *
   * @param env The game, or wrappers around one.
   * @param options How many steps at most.
   * @throws {RangeError} If that is not a whole number of at least 0.
   * @throws {TypeError} If there is no Atari game inside, or its action 0 does
   * something; that of all 18 actions does nothing.
   */
  constructor(env: Env, options: NoopResetOptions = {}) {
    super(env);
    const { max = 30 } = options;
    this.#hidden = new HiddenSteps(env);
    this.#starts = new NoopStarts(max);
    const { actionMeanings } = atariInside(env, "NoopReset");
    if (max > 0) checkNoop(actionMeanings);
  }

  /**
   * Starts an episode.
   *
   * @param options A seed starts the random streams anew.
   * @returns The observation after the steps without an action.
   */
  override reset(options: { seed?: number } = {}): SpaceValue {
    let observation = super.reset(options);
    if (options.seed !== undefined) {
      this.#starts.seed(options.seed);
      this.#hidden.forget();
    }
    const count = this.#starts.draw();
    for (let i = 0; i < count; i++) observation = this.#hidden.take(NOOP);
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
   * The random stream, and what was not told.
   *
   * @returns Plain data.
   */
  protected override ownState(): StateTree {
    return { hidden: this.#hidden.save(), starts: this.#starts.save() };
  }

  /**
   * Goes on with a random stream.
   *
   * @param state What `ownState` returned.
   */
  protected override loadOwnState(state: StateTree): void {
    const { hidden, starts } = snapshotRecord(state, ["hidden", "starts"]);
    this.#hidden.load(hidden);
    this.#starts.load(starts);
  }
}
