import type { Env, SpaceValue, StateTree, StepResult } from "@bellman/types";
import { snapshotRecord } from "../../snapshot.ts";
import { Wrapper } from "../../wrappers/wrapper.ts";
import {
  type AtariInside,
  atariInside,
  checkNoop,
  fireActions,
  isLifeLost,
  NoopStarts,
} from "./game_rules.ts";

/**
 * A wrapper that takes steps by itself in `reset`. Episodes that end in them are
 * told with the next step that is seen.
 *
 * @example
 * ```ts
 * import { AtariEnv, FireReset, HiddenSteps, isAtariInstalled } from "@bellman/envs/atari";
 * import { assert } from "@std/assert";
 *
 * if (isAtariInstalled()) {
 *   const env = new FireReset(new AtariEnv("breakout"));
 *   assert(env instanceof HiddenSteps);
 *   env.close();
 * }
 * ```
 */
export class HiddenSteps extends Wrapper {
  #untold: StateTree[] = [];

  /**
   * Takes a step that nobody sees; an episode that ends in it is followed by a new
   * one.
   *
   * @param action Number of the action.
   * @returns The current observation.
   */
  protected takeHidden(action: number): SpaceValue {
    const { observation, terminated, truncated, info } = super.step(action);
    this.#untold.push(...(info?.episodes ?? []) as StateTree[]);
    return terminated || truncated ? super.reset() : observation;
  }

  /**
   * Starts an episode.
   *
   * @param options A seed restarts the random streams: what was not told is
   * forgotten.
   * @returns The first observation.
   */
  override reset(options: { seed?: number } = {}): SpaceValue {
    const observation = super.reset(options);
    if (options.seed !== undefined) this.#untold = [];
    return observation;
  }

  /**
   * Takes one step.
   *
   * @param action The action.
   * @returns The step's result, with the games that ended unseen before it.
   */
  override step(action: SpaceValue): StepResult {
    const result = super.step(action);
    if (this.#untold.length === 0) return result;
    const ended = (result.info?.episodes ?? []) as StateTree[];
    const episodes = [...this.#untold, ...ended];
    this.#untold = [];
    return { ...result, info: { ...result.info, episodes } };
  }

  /**
   * Saves the games that were not reported.
   *
   * @returns Plain data.
   */
  protected override ownState(): StateTree {
    return structuredClone(this.#untold);
  }

  /**
   * Restores what was not reported.
   *
   * @param state The state that `ownState` returned.
   */
  protected override loadOwnState(state: StateTree): void {
    this.#untold = structuredClone(state as StateTree[]);
  }
}

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
export class NoopReset extends HiddenSteps {
  #starts: NoopStarts;

  /**
   * Wraps a game.
   *
   * @param env The game, or wrappers around one.
   * @param options Largest number of steps.
   * @throws {RangeError} If that is not a whole number of at least 0.
   * @throws {TypeError} If there is no Atari game inside, or its action 0 does
   * something; that of all 18 actions does nothing.
   */
  constructor(env: Env, options: NoopResetOptions = {}) {
    super(env);
    const { max = 30 } = options;
    this.#starts = new NoopStarts(max);
    const { actionMeanings } = atariInside(env, "NoopReset");
    if (max > 0) checkNoop(actionMeanings);
  }

  /**
   * Starts an episode.
   *
   * @param options A seed restarts the random streams.
   * @returns The observation after the steps without an action.
   */
  override reset(options: { seed?: number } = {}): SpaceValue {
    let observation = super.reset(options);
    if (options.seed !== undefined) this.#starts.seed(options.seed);
    const count = this.#starts.draw();
    for (let i = 0; i < count; i++) observation = this.takeHidden(NOOP);
    return observation;
  }

  /**
   * Saves the random stream, and the games that were not reported.
   *
   * @returns Plain data.
   */
  protected override ownState(): StateTree {
    return { hidden: super.ownState(), starts: this.#starts.save() };
  }

  /**
   * Resumes with a random stream.
   *
   * @param state The state that `ownState` returned.
   */
  protected override loadOwnState(state: StateTree): void {
    const { hidden, starts } = snapshotRecord(state, ["hidden", "starts"]);
    super.loadOwnState(hidden);
    this.#starts.load(starts);
  }
}

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
export class FireReset extends HiddenSteps {
  #actions: readonly number[];

  /**
   * Wraps a game.
   *
   * @param env The game, or wrappers around one.
   * @throws {TypeError} If there is no Atari game inside.
   */
  constructor(env: Env) {
    super(env);
    this.#actions = fireActions(atariInside(env, "FireReset").actionMeanings);
  }

  /**
   * Starts an episode.
   *
   * @param options A seed restarts the random streams.
   * @returns The observation after FIRE.
   */
  override reset(options: { seed?: number } = {}): SpaceValue {
    let observation = super.reset(options);
    for (const action of this.#actions) observation = this.takeHidden(action);
    return observation;
  }
}

/**
 * Ends the learner's episode with each life that is lost, while the game goes
 * on: the step in which one is lost is `terminated`, and the `reset` that follows
 * takes a step without an action in the same game. Only after the game's own end,
 * by its rules or by its time limit, is it really reset.
 *
 * `AtariEpisodicLifeWrapper` of jrobine/actor-critic, `EpisodicLifeEnv` of
 * baselines. There, a reset in the midst of a life goes on with the game as well,
 * and so does one after a time limit outside this wrapper; here both begin a
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
export class EpisodicLife extends HiddenSteps {
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
    this.#game = atariInside(env, "EpisodicLife");
    checkNoop(this.#game.actionMeanings);
  }

  /**
   * Starts the next life, or a game.
   *
   * @param options A seed starts a game and restarts the random streams.
   * @returns The first observation.
   */
  override reset(options: { seed?: number } = {}): SpaceValue {
    const goesOn = this.#isBetweenLives && options.seed === undefined;
    const observation = goesOn ? this.takeHidden(NOOP) : super.reset(options);
    this.#isBetweenLives = false;
    this.#lives = this.#game.lives;
    return observation;
  }

  /**
   * Takes one step.
   *
   * @param action The action.
   * @returns The step's result, terminated if a life was lost.
   * @throws {Error} If a life was lost in the step before.
   */
  override step(action: SpaceValue): StepResult {
    if (this.#isBetweenLives) {
      throw new Error(
        "Cannot step as a life was lost in the step before: call reset first",
      );
    }
    const result = super.step(action);
    const { lives } = this.#game;
    const isLost = isLifeLost(this.#lives, lives);
    this.#lives = lives;
    if (!isLost) return result;
    this.#isBetweenLives = !result.terminated && !result.truncated;
    return { ...result, terminated: true };
  }

  /**
   * Saves the lives, and if one was just lost.
   *
   * @returns Plain data.
   */
  protected override ownState(): StateTree {
    return {
      hidden: super.ownState(),
      lives: this.#lives,
      isBetweenLives: this.#isBetweenLives,
    };
  }

  /**
   * Resumes from such a state.
   *
   * @param state The state that `ownState` returned.
   */
  protected override loadOwnState(state: StateTree): void {
    const own = snapshotRecord(state, ["hidden", "lives", "isBetweenLives"]);
    super.loadOwnState(own.hidden);
    this.#lives = own.lives as number;
    this.#isBetweenLives = own.isBetweenLives as boolean;
  }
}
