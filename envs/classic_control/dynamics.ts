import type {
  Batch,
  BoxArray,
  BoxSpace,
  DiscreteSpace,
  Env,
  EnvSpec,
  RandomSource,
  RenderOptions,
  RgbImage,
  Space,
  SpaceValue,
  StateTree,
  StepResult,
  VecEnv,
  VecResetOptions,
  VecStep,
} from "@bellman/types";
import { checkNumEnvs, checkSavedEnvs, checkStepLimit } from "../_checks.ts";
import { allocateStep } from "../_steps.ts";
import { DEFAULT_SEED, EnvStreams, SeededRandom } from "../random.ts";
import { snapshotRecord } from "../snapshot.ts";
import { checkAction, checkActionCount } from "../spaces/_action_rows.ts";
import { areFinite } from "../spaces/arrays.ts";

/**
 * Rules of an environment whose state is a few float64 numbers, whose
 * observation is a few float32 numbers and whose action is a single number.
 *
 * The functions work in place on the `stateSize` numbers from `at` on, so that
 * one environment and a batch of them share the same code, bit for bit. The
 * ones for all rows are loops of their own in each file, so that the engine can
 * inline the functions of one row.
 */
export interface Dynamics {
  /** Name in error messages. */
  readonly name: string;
  /** Length of the state. */
  readonly stateSize: number;
  /** Space of observations, of shape `[k]`. */
  readonly observationSpace: BoxSpace;
  /** Space of actions: whole numbers, or a box of one number. */
  readonly actionSpace: DiscreteSpace | BoxSpace;
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
  /** Takes one step in every row; writes the rewards and the terminations. */
  stepAll(
    state: Float64Array,
    actions: Int32Array | Float32Array,
    step: VecStep,
  ): void;
  /** Writes the observations of all rows. */
  observeAll(state: Float64Array, observations: Float32Array): void;
  /** Draws a state and the action before it, NaN for none. */
  render(state: Float64Array, options: RenderOptions, action: number): RgbImage;
}

/**
 * Single environment with the rules of a {@linkcode Dynamics}, without a time
 * limit.
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
export class DynamicsEnv<A extends SpaceValue = SpaceValue>
  implements Env<Float32Array, A> {
  /** Space of observations. */
  readonly observationSpace: Space;
  /** Space of actions. */
  readonly actionSpace: Space;
  /** Numbers of the state, changed in place by each step. */
  readonly state: Float64Array;

  #dynamics: Dynamics;
  /** Last action of the episode; NaN before the first one. */
  #lastAction = NaN;
  #random: SeededRandom | undefined;
  #status: "new" | "running" | "ended" = "new";

  /**
   * Makes an environment that has not been reset.
   *
   * @param dynamics Rules to follow.
   */
  constructor(dynamics: Dynamics) {
    this.#dynamics = dynamics;
    this.observationSpace = dynamics.observationSpace;
    this.actionSpace = dynamics.actionSpace;
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
    if (options.seed !== undefined) {
      this.#random = new SeededRandom(options.seed);
    }
    this.#random ??= new SeededRandom(DEFAULT_SEED);
    this.#dynamics.reset(this.state, 0, this.#random);
    this.#status = "running";
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
    this.#status = "running";
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
  step(action: A): StepResult<Float32Array> {
    checkAction(this.actionSpace, action);
    if (this.#status !== "running") {
      const why = this.#status === "new"
        ? "has not begun"
        : "ended in the step before";
      throw new Error(
        `Cannot step ${this.#dynamics.name} as its episode ${why}: call reset first`,
      );
    }
    const value = typeof action === "number"
      ? action
      : (action as Float32Array)[0];
    const reward = this.#dynamics.step(this.state, 0, value);
    const terminated = this.#dynamics.hasEnded(this.state, 0);
    this.#lastAction = value;
    if (terminated) this.#status = "ended";
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
      status: this.#status,
      // NaN has no place in JSON.
      lastAction: Number.isNaN(this.#lastAction) ? null : this.#lastAction,
      random: this.#random?.save() ?? null,
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
    const { state, lastAction, random } = saved, { length } = this.state;
    if (!(state instanceof Float64Array) || state.length !== length) {
      throw new TypeError(
        `Cannot restore ${this.#dynamics.name}: expected a state of ${length} numbers`,
      );
    }
    this.state.set(state);
    this.#status = saved.status as "new" | "running" | "ended";
    this.#lastAction = lastAction === null ? NaN : lastAction as number;
    this.#random = random === null ? undefined : new SeededRandom(0);
    this.#random?.load(random);
  }

  /**
   * Draws the present state.
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

/** Settings of the batched environments. */
export interface BatchedOptions {
  /** Number of environments. */
  numEnvs: number;
  /**
   * Steps after which an episode is truncated.
   *
   * @default Infinity
   */
  maxEpisodeSteps?: number;
  /** Facts about the environment, if it is made by name. */
  spec?: EnvSpec;
}

/**
 * Many environments with the rules of a {@linkcode Dynamics} that step together
 * over shared arrays: the numbers of single ones, bit for bit, without anything
 * allocated in a step. Environment `i` is seeded with `deriveSeed(seed, i)`.
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
export class DynamicsVecEnv implements VecEnv {
  /** Number of environments. */
  readonly numEnvs: number;
  /** Space of one environment's observations. */
  readonly observationSpace: Space;
  /** Space of one environment's actions. */
  readonly actionSpace: Space;
  /** Facts about the environment, if it was made by name. */
  readonly spec?: EnvSpec;
  /** Steps after which an episode is truncated. */
  readonly maxEpisodeSteps: number;
  /** States of all environments, row by row, changed in place by each step. */
  readonly states: Float64Array;

  #dynamics: Dynamics;
  #streams = new EnvStreams();
  #steps: Int32Array;
  #observations: Float32Array;
  #finalObservations: Float32Array;
  #step: VecStep;

  /**
   * Makes environments that have not been reset.
   *
   * @param dynamics Rules to follow.
   * @param options Number of environments and longest episode.
   * @throws {RangeError} If a number is not a whole one of at least 1.
   */
  constructor(dynamics: Dynamics, options: BatchedOptions) {
    const { numEnvs, maxEpisodeSteps = Infinity } = options;
    checkNumEnvs(dynamics.name, numEnvs);
    checkStepLimit(maxEpisodeSteps);
    this.#dynamics = dynamics;
    this.numEnvs = numEnvs;
    this.maxEpisodeSteps = maxEpisodeSteps;
    this.observationSpace = dynamics.observationSpace;
    this.actionSpace = dynamics.actionSpace;
    this.spec = options.spec;
    this.states = new Float64Array(numEnvs * dynamics.stateSize);
    this.#steps = new Int32Array(numEnvs);
    this.#step = allocateStep(dynamics.observationSpace, numEnvs);
    this.#observations = this.#step.observations as Float32Array;
    this.#finalObservations = this.#step.finalObservations as Float32Array;
  }

  /**
   * Starts an episode in every environment.
   *
   * @param options Seed that restarts the random streams, or one for each.
   * @returns The first observations; reused by the next step.
   * @throws {RangeError} If a seed is not a whole number of at least 0, or there
   * are too few or too many.
   */
  reset(options: VecResetOptions = {}): Float32Array {
    this.#streams.seed(this.numEnvs, options.seed);
    for (let i = 0; i < this.numEnvs; i++) this.#resetRow(i);
    return this.#observations;
  }

  #resetRow(i: number): void {
    const at = i * this.#dynamics.stateSize;
    this.#dynamics.reset(this.states, at, this.#streams.of(i));
    this.#steps[i] = 0;
    const to = i * this.#dynamics.observationSpace.shape[0];
    this.#dynamics.observe(this.states, at, this.#observations, to);
  }

  /**
   * Takes one step in every environment.
   *
   * @param actions One action for each: `Int32Array` for discrete ones,
   * `Float32Array` for boxes.
   * @returns The step's result; the same object and arrays each time.
   * @throws {RangeError} If there are too few or too many actions, or one is not
   * of the action space.
   * @throws {Error} If `reset` has not been called.
   */
  step(actions: Batch): VecStep {
    this.#checkActions(actions as BoxArray);
    const taken = actions as Int32Array | Float32Array;
    this.#dynamics.stepAll(this.states, taken, this.#step);
    this.#dynamics.observeAll(this.states, this.#observations);
    const steps = this.#steps, limit = this.maxEpisodeSteps;
    const { terminated, truncated } = this.#step;
    for (let i = 0; i < steps.length; i++) {
      truncated[i] = ++steps[i] >= limit ? 1 : 0;
      if ((terminated[i] | truncated[i]) !== 0) this.#endRow(i);
    }
    return this.#step;
  }

  #endRow(i: number): void {
    const [size] = this.#dynamics.observationSpace.shape;
    const at = i * size;
    for (let j = at; j < at + size; j++) {
      this.#finalObservations[j] = this.#observations[j];
    }
    this.#resetRow(i);
  }

  #checkActions(actions: BoxArray): void {
    if (!this.#streams.areSeeded) {
      throw new Error(
        `Cannot step ${this.#dynamics.name} as its episodes have not begun: call reset first`,
      );
    }
    checkActionCount(this.numEnvs, actions, this.numEnvs);
    const space = this.#dynamics.actionSpace;
    const isFine = space.type === "discrete"
      ? areWithin(actions, space.n)
      : actions instanceof Float32Array && areFinite(actions);
    if (isFine) return;
    for (let i = 0; i < actions.length; i++) {
      const isDiscrete = space.type === "discrete";
      checkAction(space, isDiscrete ? actions[i] : actions.slice(i, i + 1));
    }
  }

  /**
   * Saves all states and random streams.
   *
   * @returns Plain data that later steps do not change.
   */
  save(): StateTree {
    return {
      states: this.states.slice(),
      steps: this.#steps.slice(),
      observations: this.#observations.slice(),
      randoms: this.#streams.save(),
    };
  }

  /**
   * Restores a snapshot.
   *
   * @param snapshot Snapshot that `save` returned.
   * @throws {TypeError} If it is no snapshot of such an environment.
   * @throws {RangeError} If it is of another number of environments.
   */
  load(snapshot: StateTree): void {
    const keys = ["states", "steps", "observations", "randoms"];
    const saved = snapshotRecord(snapshot, keys);
    const states = saved.states as Float64Array;
    const steps = saved.steps as Int32Array;
    checkSavedEnvs(this.numEnvs, steps.length);
    if (states.length !== this.states.length) {
      throw new TypeError(
        `Cannot restore ${this.#dynamics.name}: expected states of ${this.#dynamics.stateSize} numbers`,
      );
    }
    this.states.set(states);
    this.#steps.set(steps);
    this.#observations.set(saved.observations as Float32Array);
    this.#streams.load(saved.randoms);
  }

  /**
   * Returns the latest observations.
   *
   * @returns The batch; reused by the next step.
   */
  observations(): Float32Array {
    return this.#observations;
  }

  /** Does nothing, as there is nothing to free. */
  close(): void {}
}

function areWithin(actions: BoxArray, n: number): boolean {
  for (let i = 0; i < actions.length; i++) {
    const action = actions[i];
    if (!(action >= 0 && action < n && action === (action | 0))) return false;
  }
  return true;
}
