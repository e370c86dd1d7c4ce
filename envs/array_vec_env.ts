import { refuseUnknown } from "@bellman/files/options";
import type {
  Batch,
  BoxArray,
  BoxSpace,
  DictSpace,
  DiscreteSpace,
  EnvSpec,
  StateTree,
  VecEnv,
  VecResetOptions,
  VecStep,
} from "@bellman/types";
import { checkNumEnvs, checkSavedEnvs, checkStepLimit } from "./_checks.ts";
import { allocateStep, type MutableStep } from "./_steps.ts";
import {
  checkReset,
  EnvStreams,
  type SeededRandom,
  VEC_RESET,
} from "./random.ts";
import { savedArray, snapshotRecord, wrongEntry } from "./snapshot.ts";
import { checkActions } from "./spaces/_action_rows.ts";
import { cloneBatch } from "./spaces/batch.ts";

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

/** Space of observations that are arrays, or a dict of them. */
export type BatchedSpace<T extends Batch> = T extends BoxArray ? BoxSpace
  : DictSpace;

/**
 * Facts about each environment of a batch.
 *
 * @typeParam T Observations of all environments.
 */
export interface BatchedRow<T extends Batch = BoxArray> {
  /** Name in error messages. */
  readonly name: string;
  /** Space of observations. */
  readonly observationSpace: BatchedSpace<T>;
  /** Space of actions. */
  readonly actionSpace: DiscreteSpace | BoxSpace;
}

/**
 * Many environments in the rows of shared arrays, which step together without
 * anything allocated in a step. Subclasses keep the states and move them; random
 * streams, time limits and ends of episodes are kept here. Environment `i` is
 * seeded with `deriveSeed(seed, i)`.
 *
 * @typeParam T Observations of all environments.
 * @typeParam A Their actions.
 *
 * @example
 * ```ts
 * import { ArrayVecEnv, CART_POLE, DynamicsVecEnv } from "@bellman/envs";
 * import { assert } from "@std/assert";
 *
 * const env = new DynamicsVecEnv(CART_POLE, { numEnvs: 2 });
 * assert(env instanceof ArrayVecEnv);
 * ```
 */
export abstract class ArrayVecEnv<
  T extends Batch = BoxArray,
  A extends Batch = Batch,
> implements VecEnv<T, A> {
  /** Number of environments. */
  readonly numEnvs: number;
  /** Space of one environment's observations. */
  readonly observationSpace: BatchedSpace<T>;
  /** Space of one environment's actions. */
  readonly actionSpace: DiscreteSpace | BoxSpace;
  /** Facts about the environment, if it was made by name. */
  readonly spec?: EnvSpec;
  /** Steps after which an episode is truncated. */
  readonly maxEpisodeSteps: number;

  #name: string;
  #streams = new EnvStreams();
  #steps: Int32Array;
  #step: MutableStep;
  #observations: T;
  /** Arrays of the observations with those of the final ones, by their names. */
  #arrays: (readonly [name: string, now: BoxArray, final: BoxArray])[];

  /**
   * Allocates the step's arrays.
   *
   * @param row Facts about each environment.
   * @param options Number of environments and longest episode.
   * @throws {RangeError} If a number is not a whole one of at least 1.
   */
  constructor(row: BatchedRow<T>, options: BatchedOptions) {
    refuseUnknown(options, ["numEnvs", "maxEpisodeSteps", "spec"], row.name);
    const { numEnvs, maxEpisodeSteps = Infinity } = options;
    checkNumEnvs(row.name, numEnvs);
    checkStepLimit(maxEpisodeSteps);
    this.#name = row.name;
    this.numEnvs = numEnvs;
    this.maxEpisodeSteps = maxEpisodeSteps;
    this.observationSpace = row.observationSpace;
    this.actionSpace = row.actionSpace;
    this.spec = options.spec;
    this.#steps = new Int32Array(numEnvs);
    this.#step = allocateStep(row.observationSpace, numEnvs);
    this.#observations = this.#step.observations as T;
    const { finalObservations } = this.#step;
    const final = this.#named(finalObservations);
    this.#arrays = Object.entries(this.#named(this.#observations))
      .map(([name, now]) => [name, now as BoxArray, final[name] as BoxArray]);
  }

  /** Names the arrays of observations, as messages about snapshots do. */
  #named(observations: unknown): Record<string, unknown> {
    if (ArrayBuffer.isView(this.#observations)) return { observations };
    const named = Object.entries(observations ?? {})
      .map(([part, array]) => [`observations.${part}`, array]);
    return Object.fromEntries(named);
  }

  /**
   * Draws the first state of an episode.
   *
   * @param row Index of the environment.
   * @param random Its random stream.
   */
  protected abstract beginRow(row: number, random: SeededRandom): void;

  /**
   * Writes the current observation of an environment.
   *
   * @param row Index of the environment.
   * @param observations Observations of all environments.
   */
  protected abstract observeRow(row: number, observations: T): void;

  /**
   * Takes one step in every environment, whose actions have been checked.
   *
   * @param actions One action for each.
   * @param step Result to write rewards, terminations and observations into.
   */
  protected abstract stepRows(actions: BoxArray, step: VecStep): void;

  /**
   * Records an episode that ends.
   *
   * @param _row Index of the environment.
   * @param _step The step.
   * @param _length Steps of the episode.
   */
  protected endRow(_row: number, _step: VecStep, _length: number): void {}

  /**
   * Saves the states of all environments.
   *
   * @returns Entries of the snapshot other than `steps`, `observations` and `randoms`.
   */
  protected abstract saveRows(): Record<string, StateTree>;

  /**
   * Reads saved states and checks them, before anything is restored.
   *
   * @param snapshot The whole snapshot.
   * @returns Function that restores them.
   */
  protected abstract readRows(snapshot: StateTree): () => void;

  /**
   * Throws where the environments cannot be used.
   *
   * @param _action The use, such as `reset`.
   */
  protected checkUsable(_action: string): void {}

  /**
   * Starts an episode in every environment.
   *
   * @param options Seed that restarts the random streams, or one for each.
   * @returns The first observations; reused by the next step.
   * @throws {RangeError} If a seed is not a whole number of at least 0, or there
   * are too few or too many.
   */
  reset(options: VecResetOptions = {}): T {
    this.checkUsable("reset");
    checkReset(options, VEC_RESET);
    this.#streams.seed(this.numEnvs, options.seed);
    for (let row = 0; row < this.numEnvs; row++) this.#begin(row);
    return this.#observations;
  }

  #begin(row: number): void {
    this.beginRow(row, this.#streams.of(row));
    this.#steps[row] = 0;
    this.observeRow(row, this.#observations);
  }

  /**
   * Takes one step in every environment.
   *
   * @param actions One action for each: `Int32Array` for discrete ones,
   * `Float32Array` for boxes.
   * @returns The step's result; the same object and arrays each time.
   * @throws {RangeError} If there are too few or too many actions, or one is not
   * of the action space; none is stepped then.
   * @throws {Error} If `reset` has not been called.
   */
  step(actions: A): VecStep<T> {
    this.checkUsable("step");
    this.#checkActions(actions as BoxArray);
    this.stepRows(actions as BoxArray, this.#step);
    const steps = this.#steps, limit = this.maxEpisodeSteps;
    const { terminated, truncated } = this.#step;
    for (let row = 0; row < steps.length; row++) {
      truncated[row] = ++steps[row] >= limit ? 1 : 0;
      if ((terminated[row] | truncated[row]) !== 0) this.#end(row);
    }
    return this.#step as VecStep<T>;
  }

  #end(row: number): void {
    for (const [, now, final] of this.#arrays) {
      const size = now.length / this.numEnvs;
      for (let i = row * size; i < (row + 1) * size; i++) final[i] = now[i];
    }
    this.endRow(row, this.#step, this.#steps[row]);
    this.#begin(row);
  }

  #checkActions(actions: BoxArray): void {
    if (!this.#streams.areSeeded) {
      throw new Error(
        `Cannot step ${this.#name} as its episodes have not begun: call reset first`,
      );
    }
    checkActions(this.actionSpace, actions, this.numEnvs);
  }

  /**
   * Saves all states and random streams.
   *
   * @returns Plain data that later steps do not change.
   */
  save(): StateTree {
    this.checkUsable("take a snapshot of");
    return {
      ...this.saveRows(),
      steps: this.#steps.slice(),
      observations: cloneBatch(this.#observations) as StateTree,
      randoms: this.#streams.save(),
    };
  }

  /**
   * Restores a snapshot.
   *
   * @param snapshot Snapshot that `save` returned.
   * @throws {TypeError} If it is no snapshot of such environments.
   * @throws {RangeError} If it is of another number of environments.
   */
  load(snapshot: StateTree): void {
    this.checkUsable("restore");
    const keys = ["steps", "observations", "randoms"];
    const { randoms, ...saved } = snapshotRecord(snapshot, keys);
    checkSavedEnvs(this.numEnvs, (saved.steps as Int32Array).length);
    const restoreRows = this.readRows(snapshot);
    const array = (entry: string, like: BoxArray, value = saved[entry]) =>
      savedArray(this.#name, [entry, value], like);
    const steps = array("steps", this.#steps);
    const parts = this.#named(saved.observations) as Record<string, StateTree>;
    const observations = this.#arrays.map(([name, now]) =>
      [now, array(name, now, parts[name])] as const
    );
    if (!Array.isArray(randoms)) {
      throw wrongEntry(this.#name, ["randoms", randoms], "a list");
    }
    // There are none before the first reset.
    if (randoms.length > 0) checkSavedEnvs(this.numEnvs, randoms.length);
    // The last that can refuse, which leaves its streams as they were then.
    this.#streams.load(randoms);
    restoreRows();
    this.#steps.set(steps);
    for (const [now, from] of observations) now.set(from);
  }

  /**
   * Returns the latest observations.
   *
   * @returns The batch; reused by the next step.
   */
  observations(): T {
    return this.#observations;
  }

  /** Frees nothing here, as there is nothing to free. */
  close(): void {}
}
