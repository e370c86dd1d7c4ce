import type {
  BatchOf,
  BoxArray,
  BoxSpace,
  DiscreteSpace,
  Env,
  RandomSource,
  RenderOptions,
  RgbImage,
  StateTree,
  StepResult,
  ValueOf,
  VecStep,
} from "@bellman/types";
import { Episodes } from "../_episodes.ts";
import { ArrayVecEnv, type BatchedOptions } from "../array_vec_env.ts";
import { checkReset, RESET, type SeededRandom } from "../random.ts";
import { savedArray, snapshotRecord } from "../snapshot.ts";
import { checkAction } from "../spaces/_action_rows.ts";

/**
 * Rules of an environment whose state is a few float64 numbers, whose
 * observation is a few float32 numbers and whose action is a single number.
 *
 * The functions work in place on the `stateSize` numbers from `at` on, so that
 * one environment and a batch of them share the same code, bit for bit. The
 * ones for all rows are loops of their own in each file, so that the engine can
 * inline the functions of one row.
 *
 * @typeParam S Space of actions.
 */
export interface Dynamics<
  S extends DiscreteSpace | BoxSpace<"float32"> =
    | DiscreteSpace
    | BoxSpace<"float32">,
> {
  /** Name in error messages. */
  readonly name: string;
  /** Steps per second at which its images look as fast as what they show. */
  readonly framesPerSecond?: number;
  /** Length of the state. */
  readonly stateSize: number;
  /** Space of observations, of shape `[k]`. */
  readonly observationSpace: BoxSpace<"float32">;
  /** Space of actions: whole numbers, or a box of one number. */
  readonly actionSpace: S;
  /** Draws a first state. */
  reset(state: Float64Array, at: number, random: RandomSource): void;
  /** Takes one step and returns its reward. */
  step(state: Float64Array, at: number, action: number): number;
  /** Finds out if a state ends the episode. */
  hasEnded(state: Float64Array, at: number): boolean;
  /** Writes the observation of a state from `to` on. */
  observe(
    state: Float64Array,
    at: number,
    values: Float32Array,
    to: number,
  ): void;
  /** Draws a state and the action before it, NaN for none. */
  render(state: Float64Array, options: RenderOptions, action: number): RgbImage;
}

/**
 * Single environment with the rules of a {@linkcode Dynamics}, without a time
 * limit.
 *
 * @typeParam S Space of actions.
 *
 * @example
 * ```ts
 * import { CART_POLE, DynamicsEnv } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new DynamicsEnv(CART_POLE);
 * env.reset({ seed: 0 });
 * assertEquals(env.step(1).reward, 1);
 * ```
 */
export class DynamicsEnv<
  S extends DiscreteSpace | BoxSpace<"float32"> =
    | DiscreteSpace
    | BoxSpace<"float32">,
> implements Env<Float32Array, ValueOf<S>> {
  /** Space of observations. */
  readonly observationSpace: BoxSpace<"float32">;
  /** Space of actions. */
  readonly actionSpace: S;
  /** Steps per second at which its images look as fast as what they show, if known. */
  readonly framesPerSecond: number | undefined;
  /** Numbers of the state, changed in place by each step. */
  readonly state: Float64Array;

  #dynamics: Dynamics;
  /** Last action of the episode; NaN before the first one. */
  #lastAction = NaN;
  #episodes: Episodes;

  /**
   * Makes an environment that has not been reset.
   *
   * @param dynamics Rules to follow.
   */
  constructor(dynamics: Dynamics<S>) {
    this.#dynamics = dynamics;
    this.#episodes = new Episodes(dynamics.name);
    this.observationSpace = dynamics.observationSpace;
    this.actionSpace = dynamics.actionSpace;
    this.framesPerSecond = dynamics.framesPerSecond;
    this.state = new Float64Array(dynamics.stateSize);
  }

  /**
   * Starts an episode.
   *
   * @param options Seed that restarts the random stream.
   * @returns The first observation.
   * @throws {RangeError} If the seed is not a whole number of at least 0.
   */
  reset(options: { seed?: number } = {}): Float32Array {
    checkReset(options, RESET);
    this.#dynamics.reset(this.state, 0, this.#episodes.begin(options.seed));
    this.#lastAction = NaN;
    return this.#observation();
  }

  /**
   * Puts the environment into a state, in the midst of an episode.
   *
   * @param values Numbers of the state.
   * @throws {RangeError} If there are too few or too many, or one is not finite.
   */
  setState(values: ArrayLike<number>): void {
    const given = Float64Array.from(values);
    if (given.length !== this.state.length || !given.every(Number.isFinite)) {
      throw new RangeError(
        `Cannot set the state to [${given}]: expected ${this.state.length} finite numbers`,
      );
    }
    this.state.set(given);
    this.#episodes.stage = "running";
    this.#lastAction = NaN;
  }

  /**
   * Takes one step.
   *
   * @param action Action to take.
   * @returns The step's result; never truncated.
   * @throws {RangeError} If the action is not of the action space.
   * @throws {Error} If no episode is under way.
   */
  step(action: ValueOf<S>): StepResult<Float32Array> {
    checkAction(this.actionSpace, action);
    this.#episodes.checkRunning();
    const value = typeof action === "number"
      ? action
      : (action as Float32Array)[0];
    const reward = this.#dynamics.step(this.state, 0, value);
    const terminated = this.#dynamics.hasEnded(this.state, 0);
    this.#lastAction = value;
    if (terminated) this.#episodes.stage = "ended";
    const observation = this.#observation();
    return { observation, reward, terminated, truncated: false };
  }

  #observation(): Float32Array {
    const [size] = this.#dynamics.observationSpace.shape;
    const values = new Float32Array(size);
    this.#dynamics.observe(this.state, 0, values, 0);
    return values;
  }

  /**
   * Saves state and random stream.
   *
   * @returns Plain data that later steps do not change.
   */
  save(): StateTree {
    return {
      state: this.state.slice(),
      // NaN has no place in JSON.
      lastAction: Number.isNaN(this.#lastAction) ? null : this.#lastAction,
      ...this.#episodes.save(),
    };
  }

  /**
   * Restores a snapshot.
   *
   * @param snapshot Snapshot that `save` returned.
   * @throws {TypeError} If it is no snapshot of such an environment.
   */
  load(snapshot: StateTree): void {
    const keys = ["state", "status", "lastAction", "random"];
    const saved = snapshotRecord(snapshot, keys);
    const entry = ["state", saved.state] as const;
    const state = savedArray(this.#dynamics.name, entry, this.state);
    this.#episodes.load(saved);
    this.state.set(state);
    this.#lastAction = saved.lastAction as number | null ?? NaN;
  }

  /**
   * Draws the current state.
   *
   * @param options Size of the picture.
   * @returns The picture.
   */
  render(options: RenderOptions = {}): RgbImage {
    return this.#dynamics.render(this.state, options, this.#lastAction);
  }

  /** Does nothing, as there is nothing to free. */
  close(): void {}
}

/**
 * Many environments with the rules of a {@linkcode Dynamics}: the numbers of
 * single ones, bit for bit.
 *
 * @typeParam S Space of actions.
 *
 * @example
 * ```ts
 * import { CART_POLE, DynamicsVecEnv } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new DynamicsVecEnv(CART_POLE, { numEnvs: 2 });
 * env.reset({ seed: 0 });
 * assertEquals([...env.step(Int32Array.of(0, 1)).rewards], [1, 1]);
 * ```
 */
export class DynamicsVecEnv<
  S extends DiscreteSpace | BoxSpace<"float32"> =
    | DiscreteSpace
    | BoxSpace<"float32">,
> extends ArrayVecEnv<Float32Array, BatchOf<ValueOf<S>>> {
  /** States of all environments, row by row, changed in place by each step. */
  readonly states: Float64Array;
  #dynamics: Dynamics;

  /**
   * Makes environments that have not been reset.
   *
   * @param dynamics Rules to follow.
   * @param options Number of environments and longest episode.
   * @throws {RangeError} If a number is not a whole one of at least 1.
   */
  constructor(dynamics: Dynamics<S>, options: BatchedOptions) {
    super(dynamics, options);
    this.#dynamics = dynamics;
    this.states = new Float64Array(options.numEnvs * dynamics.stateSize);
  }

  /**
   * Draws the first state of an episode.
   *
   * @param row Index of the environment.
   * @param random Its random stream.
   */
  protected override beginRow(row: number, random: SeededRandom): void {
    const { stateSize } = this.#dynamics;
    this.#dynamics.reset(this.states, row * stateSize, random);
  }

  /**
   * Writes the current observation of an environment.
   *
   * @param row Index of the environment.
   * @param observations Observations of all environments.
   */
  protected override observeRow(row: number, observations: Float32Array): void {
    const { stateSize, observationSpace: { shape: [size] } } = this.#dynamics;
    const at = row * stateSize, to = row * size;
    this.#dynamics.observe(this.states, at, observations, to);
  }

  /**
   * Takes one step in every environment.
   *
   * @param actions One action for each.
   * @param step Result to write into.
   */
  protected override stepRows(actions: BoxArray, step: VecStep): void {
    const { states } = this, { rewards, terminated } = step;
    const rules = this.#dynamics, { stateSize } = rules;
    const observations = step.observations as Float32Array;
    const size = observations.length / rewards.length;
    for (let row = 0, at = 0; row < rewards.length; row++, at += stateSize) {
      rewards[row] = rules.step(states, at, actions[row]);
      terminated[row] = rules.hasEnded(states, at) ? 1 : 0;
      rules.observe(states, at, observations, row * size);
    }
  }

  /**
   * Saves the states.
   *
   * @returns The entry `states`.
   */
  protected override saveRows(): Record<string, StateTree> {
    return { states: this.states.slice() };
  }

  /**
   * Reads saved states.
   *
   * @param snapshot The whole snapshot.
   * @returns Function that restores them.
   */
  protected override readRows(snapshot: StateTree): () => void {
    const { states } = snapshotRecord(snapshot, ["states"]);
    const { name } = this.#dynamics;
    const saved = savedArray(name, ["states", states], this.states);
    return () => this.states.set(saved);
  }
}
