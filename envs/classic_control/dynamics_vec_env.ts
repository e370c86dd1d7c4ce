import { areFinite, checkAction } from "../_check_action.ts";
import { checkCopies, checkSnapshotCopies } from "../_check_copies.ts";
import { checkStepLimit } from "../_check_step_limit.ts";
import { CopyStreams } from "../_copy_streams.ts";
import type {
  Batch,
  BoxArray,
  EnvSpec,
  Space,
  StateTree,
  VecEnv,
  VecResetOptions,
  VecStep,
} from "@bellman/types";
import { snapshotRecord } from "../snapshot.ts";
import type { Dynamics } from "./dynamics.ts";

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
