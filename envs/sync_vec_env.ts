import type {
  Batch,
  BatchOf,
  Env,
  EnvParameters,
  EnvSpec,
  EpisodeStatistics,
  Space,
  SpaceValue,
  StateTree,
  StepResult,
  VecEnv,
  VecResetOptions,
  VecStep,
} from "@bellman/types";
import { checkedGoals } from "./_goals.ts";
import { type ActionMasks, masksOf } from "./_action_masks.ts";
import { checkSavedEnvs } from "./_checks.ts";
import { checkEnvSpaces, EnvData } from "./_env_data.ts";
import { allocateStep, type MutableStep } from "./_steps.ts";
import { EnvDataError } from "./env_data_error.ts";
import {
  checkReset,
  copySeeds,
  DEFAULT_SEED,
  SeededRandom,
  VEC_RESET,
} from "./random.ts";
import { drawParameters } from "./parameters.ts";
import { restoreNow, snapshotFault, snapshotRecord } from "./snapshot.ts";
import { ActionRows } from "./spaces/_action_rows.ts";
import { cloneBatch, copyBatch } from "./spaces/batch.ts";
import { describeSpace, spacesEqual } from "./spaces/values.ts";

const NONE: readonly EpisodeStatistics[] = [];

/** Checks that all environments have the same spaces, and sound ones. */
function checkSameSpaces(envs: readonly Env[]): void {
  envs.forEach(checkEnvSpaces);
  for (const name of ["observationSpace", "actionSpace"] as const) {
    const odd = envs.findIndex((env) => !spacesEqual(env[name], envs[0][name]));
    if (odd < 0) continue;
    const what = name === "actionSpace" ? "actions" : "observations";
    const [first, other] = [0, odd].map((i) => describeSpace(envs[i][name]));
    throw new RangeError(
      `Cannot step copies together whose ${what} differ: copy 0 has ${first}, copy ${odd} ${other}`,
    );
  }
}

/**
 * A vector environment of single ones, stepped one after the other.
 *
 * Environment `i` is seeded with `deriveSeed(seed, i)`. One whose episode ended
 * is reset in the same step. Arrays of actions are reused by the next step: an
 * environment that keeps its action copies it. Where `info.episodes` lists the
 * episodes that ended, as records of return, length and terminated, these are
 * passed on.
 *
 * @typeParam O An observation of one environment.
 * @typeParam A An action of one environment.
 *
 * @example
 * ```ts
 * import { make, SyncVecEnv } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new SyncVecEnv([
 *   () => make("MountainCar-v0"),
 *   () => make("MountainCar-v0"),
 * ]);
 * env.reset({ seed: 3 });
 * assertEquals([...env.step(Int32Array.of(0, 2)).rewards], [-1, -1]);
 * ```
 */
export class SyncVecEnv<
  O extends SpaceValue = SpaceValue,
  A extends SpaceValue = SpaceValue,
> implements VecEnv<BatchOf<O>, BatchOf<A>> {
  /** Number of environments. */
  readonly numEnvs: number;
  /** Space of one environment's observations. */
  readonly observationSpace: Space;
  /** Space of one environment's actions. */
  readonly actionSpace: Space;
  /** Facts about the environment, if it was made by name. */
  readonly spec?: EnvSpec;
  /** Frames that an observation stacks; none where they cannot be shared. */
  readonly stackedFrames?: number;
  /**
   * Actions that the newest observations allow `[numEnvs, choices]`; all before the
   * first reset.
   *
   * @default none: the environments mask none
   */
  readonly actionMasks?: Uint8Array;
  /** Rewards of goals, of environments that have some. */
  readonly computeReward?: Env["computeReward"];
  /** Ends by goals, of environments that have some. */
  readonly computeTerminated?: Env["computeTerminated"];
  /** The environments. */
  readonly envs: readonly Env<O, A>[];

  #isSeeded = false;
  #parameters: EnvParameters | undefined;
  /** Streams that parameters are drawn from, once there are some. */
  #draws: SeededRandom[] = [];
  /** True for parameters of episodes that one has looked at, else false. */
  #read = new Map<string, boolean>();
  #data: EnvData;
  /** Steps of each present episode. */
  #steps: Int32Array;
  #actions: ActionRows;
  #step: MutableStep;
  #masks: ActionMasks | undefined;

  /**
   * Makes the environments.
   *
   * @param factories Function that makes each environment.
   * @throws {RangeError} If there is none, their spaces differ, or only some of them
   * mask actions.
   * @throws {TypeError} If they mask actions of boxes, or nested ones.
   */
  constructor(factories: readonly (() => Env<O, A>)[]) {
    const isList = Array.isArray(factories) &&
      factories.every((it) => typeof it === "function");
    if (!isList) {
      throw new TypeError(
        "Cannot make a vector environment: expected a list of functions that each make an environment",
      );
    }
    if (factories.length === 0) {
      throw new RangeError(
        "Cannot make a vector environment of 0 copies: expected at least 1",
      );
    }
    this.envs = factories.map((factory) => factory());
    checkSameSpaces(this.envs);
    const [{ observationSpace, actionSpace, spec }] = this.envs;
    this.numEnvs = this.envs.length;
    this.observationSpace = observationSpace;
    this.actionSpace = actionSpace;
    this.spec = spec;
    this.stackedFrames = this.envs[0].stackedFrames;
    this.#data = new EnvData(observationSpace, spec);
    this.#steps = new Int32Array(this.numEnvs);
    this.#actions = new ActionRows(actionSpace, this.numEnvs);
    this.#step = allocateStep(observationSpace, this.numEnvs);
    const { computeReward, computeTerminated } = checkedGoals(this.envs[0]);
    this.computeReward = computeReward;
    this.computeTerminated = computeTerminated;
    this.#masks = masksOf(this.envs, this.#data);
    if (this.#masks === undefined) return;
    this.actionMasks = this.#step.actionMasks = this.#masks.newest;
    this.#step.finalActionMasks = this.#masks.final;
  }

  /**
   * Starts an episode in every environment.
   *
   * @param options Seed that restarts the random streams, or one for each.
   * @returns The first observations.
   * @throws {RangeError} If a seed is not a whole number of at least 0, or there
   * are too few or too many.
   * @throws {EnvDataError} If an observation is not of the space, or allows no action.
   */
  reset(options: VecResetOptions = {}): BatchOf<O> {
    checkReset(options, VEC_RESET);
    const seed = options.seed ?? (this.#isSeeded ? undefined : DEFAULT_SEED);
    const seeds = seed === undefined
      ? undefined
      : copySeeds(seed, this.numEnvs);
    this.#isSeeded = true;
    if (seeds) this.#draws = seeds.map((it) => new SeededRandom(it));
    this.envs.forEach((env, row) => {
      this.#resetRow(env, row, seeds && { seed: seeds[row] });
    });
    this.#steps.fill(0);
    return this.observations();
  }

  /**
   * Sets parameters of the episodes that begin later, which `reset` of each environment
   * gets as `parameters`.
   *
   * @param values The parameters by name; those of before are forgotten.
   * @returns Those of episodes so far that none has looked at.
   */
  setParameters(values: EnvParameters): readonly string[] {
    this.#parameters = values;
    return Object.keys(values).filter((name) => this.#read.get(name) === false);
  }

  /**
   * Takes one step in every environment.
   *
   * @param actions One action for each environment.
   * @returns The step's result.
   * @throws {RangeError} If there are too few or too many actions, or one is not
   * of the action space; no environment is stepped then.
   * @throws {TypeError} If they are in an array of another type.
   * @throws {EnvDataError} If an environment returns wrong data: an observation
   * that is not of the space, a reward that is not a finite number, an end that
   * is neither true nor false, a mask of another length or that allows nothing, or a
   * promise. Bounds of floats have a tolerance
   * of 1e-6, relative to the bound where that is above 1.
   */
  step(actions: BatchOf<A>): VecStep<BatchOf<O>> {
    const taken = this.#actions.read(actions);
    this.#step.episodes = undefined;
    for (let row = 0; row < this.numEnvs; row++) {
      this.#stepRow(row, taken[row]);
    }
    return this.#step as VecStep<BatchOf<O>>;
  }

  #stepRow(row: number, action: SpaceValue): void {
    const step = this.#step, data = this.#data;
    const env = this.envs[row], count = ++this.#steps[row];
    const result = data.result(this.#steppedRow(env, action, row), row, count);
    const { observation, terminated, truncated, info } = result;
    step.rewards[row] = result.reward;
    step.terminated[row] = terminated ? 1 : 0;
    step.truncated[row] = truncated ? 1 : 0;
    if (Array.isArray(info?.episodes)) this.#record(row, info.episodes);
    if (!terminated && !truncated) {
      data.write(observation, step.observations, row, count);
      this.#masks?.ask(env, row, count);
      return;
    }
    data.write(observation, step.finalObservations, row, count);
    this.#masks?.askFinal(env, row, count, terminated);
    this.#steps[row] = 0;
    this.#resetRow(env, row);
  }

  #resetRow(env: Env, row: number, seeded?: { seed: number }): void {
    try {
      const values = this.#parameters;
      const options = values === undefined ? seeded : {
        ...seeded,
        parameters: drawParameters(values, this.#draws[row], this.#read),
      };
      this.#data.write(env.reset(options), this.#step.observations, row, 0);
      this.#masks?.ask(env, row, 0);
    } catch (error) {
      throw this.#named(error, row, 0);
    }
  }

  #steppedRow(env: Env, action: SpaceValue, row: number): StepResult {
    try {
      return env.step(action);
    } catch (error) {
      throw this.#named(error, row, this.#steps[row]);
    }
  }

  /** Adds index and step to the error of a wrapper, which knows neither. */
  #named(error: unknown, copy: number, step: number): unknown {
    if (!(error instanceof EnvDataError)) return error;
    return this.#data.error(error.fault, { copy, step });
  }

  #record(row: number, ended: readonly EpisodeStatistics[]): void {
    const episodes = this.#step.episodes ?? NONE;
    this.#step.episodes = ended.length === 0
      ? episodes
      : [...episodes, ...ended.map((it) => ({ ...it, env: row }))];
  }

  /**
   * Saves the state of all environments.
   *
   * @returns Plain data that later steps do not change.
   * @throws {TypeError} If the state of an environment is not plain data.
   */
  save(): StateTree {
    return {
      isSeeded: this.#isSeeded,
      envs: this.envs.map((env, row) => {
        const state = env.save(), fault = snapshotFault(state);
        if (fault) throw this.#data.error(fault, { copy: row });
        return state;
      }),
      steps: this.#steps.slice(),
      observations: cloneBatch(this.#step.observations) as StateTree,
      ...this.#parameters && {
        parameters: structuredClone(this.#parameters) as unknown as StateTree,
        draws: this.#draws.map((it) => it.save()),
      },
    };
  }

  /**
   * Restores a snapshot.
   *
   * @param snapshot Snapshot that `save` returned.
   * @throws {RangeError} If it is of another number of environments.
   * @throws {EnvDataError} If an environment restores its state later, in a
   * promise.
   */
  load(snapshot: StateTree): void {
    const keys = ["isSeeded", "envs", "steps", "observations"];
    const saved = snapshotRecord(snapshot, keys);
    const states = saved.envs as StateTree[];
    checkSavedEnvs(this.numEnvs, states.length);
    this.#isSeeded = saved.isSeeded as boolean;
    const { parameters, draws } = snapshot as Record<string, StateTree>;
    if (parameters) {
      this.setParameters(parameters as unknown as EnvParameters);
      this.#draws = (draws as StateTree[]).map((it) => {
        const random = new SeededRandom(DEFAULT_SEED);
        random.load(it);
        return random;
      });
    }
    const id = this.spec?.id;
    this.envs.forEach((env, copy) => {
      restoreNow(env, states[copy], { id, copy });
    });
    this.#steps.set(saved.steps as Int32Array);
    copyBatch(saved.observations as Batch, this.#step.observations);
    this.#loadMasks();
  }

  #loadMasks(): void {
    if (!this.#isSeeded) {
      this.actionMasks?.fill(1);
      return;
    }
    this.envs.forEach((env, i) => this.#masks?.ask(env, i, this.#steps[i]));
  }

  /**
   * Returns the latest observations.
   *
   * @returns The batch.
   */
  observations(): BatchOf<O> {
    return this.#step.observations as BatchOf<O>;
  }

  /** Closes every environment. */
  close(): void {
    for (const env of this.envs) env.close();
  }
}
