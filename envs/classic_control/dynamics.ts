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
import { checkAction } from "../spaces/_action_rows.ts";
import { areFinite } from "../spaces/arrays.ts";
import { CopyStreams, DEFAULT_SEED, SeededRandom } from "../random.ts";
import { snapshotRecord } from "../snapshot.ts";
import {
  checkCopies,
  checkSnapshotCopies,
  checkStepLimit,
} from "../_checks.ts";

/**
 * The rules of an environment whose state is a few float64 numbers, whose
 * observation is a few float32 numbers and whose action is a single number.
 *
 * The functions work in place on the `stateSize` numbers from `at` on, so that
 * one environment and a batch of them share the same code, bit for bit. The
 * ones for all rows are loops of their own in each file, so that the engine can
 * inline what one row needs.
 */
export interface Dynamics {
  /** What it is called in error messages. */
  readonly name: string;
  /** How many numbers the state has. */
  readonly stateSize: number;
  /** What observations can be, of shape `[k]`. */
  readonly observationSpace: BoxSpace;
  /** What actions can be: whole numbers, or a box of one number. */
  readonly actionSpace: DiscreteSpace | BoxSpace;
  /** Draws a first state. */
  reset(state: Float64Array, at: number, random: RandomSource): void;
  /** Takes one step and returns its reward. */
  step(state: Float64Array, at: number, action: number): number;
  /** Whether the state ends an episode. */
  hasEnded(state: Float64Array, at: number): boolean;
  /** Writes what is seen of the state. */
  observe(state: Float64Array, at: number, target: ObservationRow): void;
  /** Takes one step in every row. */
  stepAll(state: Float64Array, rows: DynamicsRows): void;
  /** Writes what is seen of every row. */
  observeAll(state: Float64Array, observations: Float32Array): void;
}

/** Where an observation is written. */
export interface ObservationRow {
  /** The array it is part of. */
  values: Float32Array;
  /** Where it begins. */
  at: number;
}

/** The actions of all rows, and where what comes of them is written. */
export interface DynamicsRows {
  /** One action for each row. */
  readonly actions: Int32Array | Float32Array;
  /** The rewards. */
  readonly rewards: Float64Array;
  /** 1 where the new state ends the episode. */
  readonly terminated: Uint8Array;
}

/**
 * One environment with the rules of a {@linkcode Dynamics}, without a time
 * limit. Without any seed, its first states differ from run to run.
 *
 * @example
 * ```ts
 * import { CartPoleEnv, DynamicsEnv } from "@bellman/envs";
 * import { assert } from "@std/assert";
 *
 * assert(new CartPoleEnv() instanceof DynamicsEnv);
 * ```
 */
export abstract class DynamicsEnv<A extends SpaceValue = SpaceValue>
  implements Env<Float32Array, A> {
  /** What observations can be. */
  readonly observationSpace: Space;
  /** What actions can be. */
  readonly actionSpace: Space;
  /** The state's numbers; changed in place by each step. */
  readonly state: Float64Array;
  /** The last action of the episode; NaN before the first one. */
  protected lastAction: number = NaN;

  #dynamics: Dynamics;
  #random: SeededRandom | undefined;
  #status: "new" | "running" | "ended" = "new";

  /**
   * Follows some rules.
   *
   * @param dynamics The rules.
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
   * @param options A seed starts the random stream anew.
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
    this.lastAction = NaN;
    return this.#observation();
  }

  /**
   * Puts the environment into a state, in the midst of an episode.
   *
   * @param values The state's numbers.
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
    this.lastAction = NaN;
  }

  /**
   * Takes one step.
   *
   * @param action What to do.
   * @returns What came of it; never truncated.
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
    this.lastAction = value;
    if (terminated) this.#status = "ended";
    const observation = this.#observation();
    return { observation, reward, terminated, truncated: false };
  }

  #observation(): Float32Array {
    const [size] = this.#dynamics.observationSpace.shape;
    const values = new Float32Array(size);
    this.#dynamics.observe(this.state, 0, { values, at: 0 });
    return values;
  }

  /**
   * State and random stream.
   *
   * @returns Plain data that later steps do not change.
   */
  save(): StateTree {
    return {
      state: this.state.slice(),
      status: this.#status,
      // NaN has no place in JSON.
      lastAction: Number.isNaN(this.lastAction) ? null : this.lastAction,
      random: this.#random?.save() ?? null,
    };
  }

  /**
   * Goes on exactly from a snapshot.
   *
   * @param snapshot What `save` returned.
   * @throws {TypeError} If it is no snapshot of such an environment.
   */
  load(snapshot: StateTree): void {
    const { state, status, lastAction, random } = snapshotRecord(snapshot, [
      "state",
      "status",
      "lastAction",
      "random",
    ]);
    const { length } = this.state;
    if (!(state instanceof Float64Array) || state.length !== length) {
      throw new TypeError(
        `Cannot restore ${this.#dynamics.name}: expected a state of ${length} numbers`,
      );
    }
    this.state.set(state);
    this.#status = status as "new" | "running" | "ended";
    this.lastAction = lastAction === null ? NaN : lastAction as number;
    this.#random = random === null ? undefined : new SeededRandom(0);
    this.#random?.load(random);
  }

  /**
   * Draws the present state.
   *
   * @param options The picture's size.
   * @returns The picture.
   */
  abstract render(options?: RenderOptions): RgbImage;

  /** Does nothing: nothing is held. */
  close(): void {}
}

/** Settings of the batched environments. */
export interface BatchedOptions {
  /** How many copies. */
  numEnvs: number;
  /**
   * Steps after which an episode is truncated.
   *
   * @default Infinity
   */
  maxEpisodeSteps?: number;
  /** What is known of the environment. */
  spec?: EnvSpec;
}

/**
 * Many environments with the rules of a {@linkcode Dynamics} that step together
 * over shared arrays: the numbers of single ones, bit for bit, without anything
 * allocated in a step. Copy `i` is seeded with `deriveSeed(seed, i)`.
 *
 * @example
 * ```ts
 * import { CartPoleVecEnv, DynamicsVecEnv } from "@bellman/envs";
 * import { assert } from "@std/assert";
 *
 * assert(new CartPoleVecEnv({ numEnvs: 2 }) instanceof DynamicsVecEnv);
 * ```
 */
export class DynamicsVecEnv implements VecEnv {
  /** How many copies there are. */
  readonly numEnvs: number;
  /** What one copy's observations can be. */
  readonly observationSpace: Space;
  /** What one copy's actions can be. */
  readonly actionSpace: Space;
  /** What is known of it, if it was made by name. */
  readonly spec?: EnvSpec;
  /** Steps after which an episode is truncated. */
  readonly maxEpisodeSteps: number;
  /** The states of all copies, row by row; changed in place by each step. */
  readonly states: Float64Array;

  #dynamics: Dynamics;
  #streams = new CopyStreams();
  #steps: Int32Array;
  #observations: Float32Array;
  #finalObservations: Float32Array;
  #row: { values: Float32Array; at: number };
  #rows: {
    actions: Int32Array | Float32Array;
    rewards: Float64Array;
    terminated: Uint8Array;
  };
  #step: VecStep;

  /**
   * Makes the copies.
   *
   * @param dynamics The rules.
   * @param options How many, and how long an episode may be.
   * @throws {RangeError} If a number is not a whole one of at least 1.
   */
  constructor(dynamics: Dynamics, options: BatchedOptions) {
    const { numEnvs, maxEpisodeSteps = Infinity } = options;
    checkCopies(dynamics.name, numEnvs);
    checkStepLimit(maxEpisodeSteps);
    this.#dynamics = dynamics;
    this.numEnvs = numEnvs;
    this.maxEpisodeSteps = maxEpisodeSteps;
    this.observationSpace = dynamics.observationSpace;
    this.actionSpace = dynamics.actionSpace;
    this.spec = options.spec;
    this.states = new Float64Array(numEnvs * dynamics.stateSize);
    const size = numEnvs * dynamics.observationSpace.shape[0];
    this.#steps = new Int32Array(numEnvs);
    this.#observations = new Float32Array(size);
    this.#finalObservations = new Float32Array(size);
    this.#row = { values: this.#observations, at: 0 };
    this.#rows = {
      actions: new Int32Array(0),
      rewards: new Float64Array(numEnvs),
      terminated: new Uint8Array(numEnvs),
    };
    this.#step = {
      observations: this.#observations,
      rewards: this.#rows.rewards,
      terminated: this.#rows.terminated,
      truncated: new Uint8Array(numEnvs),
      finalObservations: this.#finalObservations,
    };
  }

  /**
   * Starts an episode in every copy.
   *
   * @param options A seed, or one for each copy, starts the random streams anew.
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
    this.#row.at = i * this.#dynamics.observationSpace.shape[0];
    this.#dynamics.observe(this.states, at, this.#row);
  }

  /**
   * Takes one step in every copy.
   *
   * @param actions One action for each copy: `Int32Array` for discrete ones,
   * `Float32Array` for boxes.
   * @returns What came of it; the same object and arrays each time.
   * @throws {RangeError} If there are too few or too many actions, or one is not
   * of the action space.
   * @throws {Error} If `reset` has not been called.
   */
  step(actions: Batch): VecStep {
    this.#checkActions(actions as BoxArray);
    this.#rows.actions = actions as Int32Array | Float32Array;
    this.#dynamics.stepAll(this.states, this.#rows);
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
    if (actions.length !== this.numEnvs) {
      throw new RangeError(
        `Cannot step ${this.numEnvs} copies with ${actions.length} numbers of actions: expected ${this.numEnvs}`,
      );
    }
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
   * The states of all copies and their random streams.
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
   * Goes on exactly from a snapshot.
   *
   * @param snapshot What `save` returned.
   * @throws {TypeError} If it is no snapshot of such an environment.
   * @throws {RangeError} If it is of another number of copies.
   */
  load(snapshot: StateTree): void {
    const { states, steps, observations, randoms } = snapshotRecord(snapshot, [
      "states",
      "steps",
      "observations",
      "randoms",
    ]);
    const held = steps as Int32Array;
    checkSnapshotCopies(this.numEnvs, held.length);
    if ((states as Float64Array).length !== this.states.length) {
      throw new TypeError(
        `Cannot restore ${this.#dynamics.name}: expected states of ${this.#dynamics.stateSize} numbers`,
      );
    }
    this.states.set(states as Float64Array);
    this.#steps.set(held);
    this.#observations.set(observations as Float32Array);
    this.#streams.load(randoms);
  }

  /**
   * The observations that were returned last.
   *
   * @returns The batch; reused by the next step.
   */
  observations(): Float32Array {
    return this.#observations;
  }

  /** Does nothing: nothing is held. */
  close(): void {}
}

function areWithin(actions: BoxArray, n: number): boolean {
  for (let i = 0; i < actions.length; i++) {
    const action = actions[i];
    if (!(action >= 0 && action < n && action === (action | 0))) return false;
  }
  return true;
}
