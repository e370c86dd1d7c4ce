import { ActionRows } from "../spaces/_action_rows.ts";
import { checkFinite } from "../_env_data.ts";
import { cloneBatch, copyBatch } from "../spaces/batch.ts";
import { askingGoals, type GoalFunctionName } from "../_goals.ts";
import { checkReset, copySeeds, DEFAULT_SEED, VEC_RESET } from "../random.ts";
import type {
  Batch,
  BoxArray,
  EnvParameters,
  EnvSpec,
  EpisodeStatistics,
  GoalFunctions,
  Space,
  StateTree,
  VecEnv,
  VecResetOptions,
  VecStep,
} from "@bellman/types";
import { snapshotRecord } from "../snapshot.ts";
import type { GroupArrays, WorkerBackend } from "./group_hosts.ts";
import {
  type Failures,
  Supervisor,
  throwErrors,
  withoutErrors,
} from "./_supervisor.ts";
import { HostFailure } from "./host_failure.ts";
import type { HostOptions } from "./restarts.ts";
import { allocateArrays, arraysOf, cutOff } from "./_group_arrays.ts";

const LOST_BEFORE = new HostFailure("exit", "it was lost before the snapshot");

/**
 * A vector environment in groups that live elsewhere and step at the same time: {@linkcode WorkerVecEnv} and {@linkcode SubprocessVecEnv}
 * are of this kind. They have the numbers of `SyncVecEnv` for the same seeds.
 *
 * A host that throws in `reset` or `step`, dies, or stays silent past the
 * time-out is replaced. The episodes that ran in it end in that step: they are
 * `truncated` with the last observation that was seen and a reward of 0, and
 * the step names their environments as `lost`. The next observations are the
 * first of new episodes, whose seeds derive from those of the environments, or
 * are the same with `keepSeeds`. The step of the other groups
 * is kept. A group that is replaced too often in a window of time is an error.
 *
 * @typeParam O Observations of all environments.
 * @typeParam A Their actions.
 *
 * @example
 * ```ts
 * import { AsyncVecEnv, WorkerVecEnv } from "@bellman/envs/workers";
 * import { assert, assertEquals } from "@std/assert";
 *
 * const env = new WorkerVecEnv("CartPole-v1", { numEnvs: 4, workers: 2 });
 * assert(env instanceof AsyncVecEnv);
 * env.reset({ seed: 0 });
 * assertEquals([...env.step(new Int32Array(4)).rewards], [1, 1, 1, 1]);
 * env.close();
 * ```
 */
export class AsyncVecEnv<O extends Batch = Batch, A extends Batch = Batch>
  implements VecEnv<O, A> {
  /** Number of environments. */
  readonly numEnvs: number;
  /** Space of one environment's observations. */
  readonly observationSpace: Space;
  /** Space of one environment's actions. */
  readonly actionSpace: Space;
  /** The registered specification, where it was made by name. */
  readonly spec?: EnvSpec;
  /** Frames that an observation stacks; none where they cannot be shared. */
  readonly stackedFrames?: number;
  /**
   * Actions that the newest observations allow `[numEnvs, choices]`, in shared memory;
   * all before the first reset.
   *
   * @default none: the environments mask none
   */
  readonly actionMasks?: Uint8Array;
  /** Rewards of goals, of environments that have some; the first host answers. */
  readonly computeReward?: GoalFunctions["computeReward"];
  /** Ends by goals, of environments that have some. */
  readonly computeTerminated?: GoalFunctions["computeTerminated"];

  #fleet: Supervisor;
  #hosts: WorkerBackend;
  #groups: readonly number[];
  /** Groups whose episodes were lost outside a step; the next one says so. */
  #lost = new Map<number, HostFailure>();
  #arrays: GroupArrays;
  #rows: GroupArrays[];
  #taken: ActionRows;
  #step: VecStep & {
    episodes?: readonly EpisodeStatistics[];
    lost?: readonly number[];
  };
  #state: "fresh" | "running" | "closed" = "fresh";

  /**
   * Starts the hosts and waits until they have made their environments.
   *
   * @param hosts Hosts of the groups.
   * @param options Handling of hosts that fail.
   * @throws {RangeError} If a number among the options cannot be used.
   * @throws {Error} If a host cannot be started; what it threw, if it did.
   */
  constructor(hosts: WorkerBackend, options: HostOptions = {}) {
    this.#hosts = hosts;
    this.#groups = [...hosts.groups.keys()];
    this.numEnvs = hosts.groups.reduce((sum, it) => sum + it.numEnvs, 0);
    try {
      this.#fleet = new Supervisor(hosts, options);
      const opened = this.#fleet.open();
      this.observationSpace = opened.observationSpace;
      this.actionSpace = opened.actionSpace;
      this.spec = opened.spec;
      this.stackedFrames = opened.stackedFrames;
      this.#arrays = allocateArrays(opened, this.numEnvs);
      this.actionMasks = this.#arrays.actionMasks;
      this.#rows = hosts.groups.map((range) => arraysOf(this.#arrays, range));
      hosts.attach(this.#rows);
      this.#taken = new ActionRows(opened.actionSpace, this.numEnvs);
      Object.assign(this, askingGoals(opened.goalFunctions, this.#judge));
      const { actions: _, ...step } = this.#arrays;
      this.#step = { ...step, episodes: undefined, lost: undefined };
    } catch (error) {
      hosts.close();
      throw error;
    }
  }

  /**
   * Starts an episode in every environment.
   *
   * @param options A seed, or one for each environment, starts the random
   * streams anew.
   * @returns The first observations; reused by the next step.
   * @throws {RangeError} If a seed is not a whole number of at least 0, or there
   * are too few or too many.
   * @throws {Error} If a host fails again and again, or what it throws in the
   * first reset.
   */
  reset(options: VecResetOptions = {}): O {
    checkReset(options, VEC_RESET);
    this.#checkUsable("reset");
    const fleet = this.#fleet;
    const seed = options.seed ?? (fleet.seeds ? undefined : DEFAULT_SEED);
    const seeds = seed === undefined
      ? undefined
      : copySeeds(seed, this.numEnvs);
    if (seeds) fleet.seed(seeds, options.keepSeeds ?? false);
    const alive = this.#alive();
    for (const group of alive) {
      if (seeds) fleet.beginReset(group, seeds);
      else this.#hosts.begin(group, { type: "reset" });
    }
    const failures = fleet.collect(alive);
    // What has never begun would throw again: there is nothing to save.
    if (this.#state === "fresh") throwErrors(failures);
    const replaced = new Map([...this.#lost, ...failures]);
    this.#lost.clear();
    this.#state = "running";
    fleet.replace(replaced, seeds);
    this.#checkData(true);
    return this.#arrays.observations as O;
  }

  /**
   * Sets parameters of the episodes that begin later, in hosts that replace others, too.
   *
   * @param values The parameters by name; those of before are forgotten.
   * @returns Those of episodes so far that none has looked at.
   */
  setParameters(values: EnvParameters): readonly string[] {
    this.#checkUsable("set parameters of");
    const fleet = this.#fleet, alive = this.#alive();
    fleet.parameters = values;
    for (const group of alive) {
      this.#hosts.begin(group, { type: "parameters", values });
    }
    // Episodes of hosts that have died end in the next step.
    const failures = fleet.collect(alive);
    throwErrors(failures);
    for (const [group, failure] of failures) this.#lost.set(group, failure);
    const answers = this.#alive().map((group) => fleet.answers[group].unread);
    return Object.keys(values).filter((name) =>
      answers.every((it) => it?.includes(name))
    );
  }

  /**
   * Takes one step in every environment.
   *
   * @param actions One action for each environment.
   * @returns The step's result; its arrays are shared memory that the hosts
   * write in place.
   * @throws {RangeError} If there are too few or too many actions, or one is
   * not of the action space; none is stepped then.
   * @throws {TypeError} If they are in an array of another type.
   * @throws {Error} If `reset` has not been called, or a host fails again and
   * again.
   */
  step(actions: A): VecStep<O> {
    this.#checkRunning();
    this.#taken.read(actions);
    copyBatch(actions, this.#arrays.actions);
    return this.advance("step");
  }

  /**
   * Takes a step with the actions in shared memory, or in which people act.
   *
   * @param type Kind of step.
   * @returns The step's result.
   */
  protected advance(type: "step" | "watch"): VecStep<O> {
    this.#checkRunning();
    const alive = this.#alive(), fleet = this.#fleet;
    for (const group of alive) this.#hosts.begin(group, { type });
    const failures = fleet.collect(alive);
    this.#step.episodes = fleet.episodesOf(alive, failures);
    this.#step.lost = this.#recover(failures);
    this.#checkData();
    return this.#step as VecStep<O>;
  }

  /**
   * Saves the state of all environments.
   *
   * @returns Plain data that later steps do not change.
   * @throws {Error} If an environment cannot be saved.
   */
  save(): StateTree {
    this.#checkUsable("take a snapshot of");
    const fleet = this.#fleet, alive = this.#alive();
    for (const group of alive) this.#hosts.begin(group, { type: "save" });
    const failures = fleet.collect(alive);
    // Their episodes end in the next step.
    for (const [group, failure] of withoutErrors(failures)) {
      this.#lost.set(group, failure);
    }
    throwErrors(failures);
    return {
      fleet: fleet.save(),
      observations: cloneBatch(this.#arrays.observations) as StateTree,
      ...this.actionMasks && { actionMasks: this.actionMasks.slice() },
      isRunning: this.#state === "running",
      ...fleet.parameters && {
        parameters: fleet.parameters as unknown as StateTree,
      },
      groups: this.#groups.map((group) =>
        this.#lost.has(group) ? null : { state: fleet.answers[group].snapshot! }
      ),
    };
  }

  /**
   * Restores a snapshot. Where a host stays silent over it, the episodes of its
   * environments are cut off by the next step.
   *
   * @param snapshot The state that `save` returned.
   * @throws {TypeError} If it is no snapshot of such an environment.
   * @throws {RangeError} If it is of another number of environments or groups.
   * @throws {Error} What an environment throws over its part; then `reset` or
   * another `load` is to follow.
   */
  load(snapshot: StateTree): void {
    this.#checkUsable("restore");
    const keys = ["fleet", "observations", "groups", "isRunning"];
    if (this.actionMasks) keys.push("actionMasks");
    const { fleet, observations, groups, isRunning, actionMasks } =
      snapshotRecord(snapshot, keys);
    const states = groups as ({ state: StateTree } | null)[];
    if (states.length !== this.#groups.length) {
      throw new RangeError(
        `Cannot restore ${this.#groups.length} groups of environments from a snapshot of ${states.length}`,
      );
    }
    // Should it fail half-way, no episode resumes from another state.
    this.#state = "fresh";
    // A host that was lost is needed again.
    this.#fleet.replace(new Map(this.#lost));
    this.#lost.clear();
    this.#fleet.loadGroups(states, this.#lost);
    this.#fleet.load(fleet);
    states.forEach((state, group) => {
      if (state === null) this.#lost.set(group, LOST_BEFORE);
    });
    this.#state = isRunning ? "running" : "fresh";
    const { parameters } = snapshot as { parameters?: EnvParameters };
    if (parameters) this.setParameters(parameters);
    copyBatch(observations as Batch, this.#arrays.observations);
    this.actionMasks?.set(actionMasks as Uint8Array);
  }

  /**
   * Returns the current observations.
   *
   * @returns The batch, in shared memory; reused by the next step.
   */
  observations(): O {
    return this.#arrays.observations as O;
  }

  /** Actions of the last step, in shared memory. */
  protected get actions(): A {
    return this.#arrays.actions as A;
  }

  /** Ends all hosts; what they were doing is lost. */
  close(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#hosts.close();
  }

  /**
   * Asks the first host about goals. One that dies over it is replaced by the next
   * step, which tells that its episodes are lost; if none is left, one of them at once.
   */
  #judge = (
    name: GoalFunctionName,
    achieved: BoxArray,
    desired: BoxArray,
  ): Float64Array => {
    this.#checkUsable("judge goals of");
    for (;;) {
      let [group] = this.#alive();
      if (group === undefined) {
        const [[first, failure]] = this.#lost;
        this.#fleet.reopen(group = first, failure);
      }
      this.#hosts.begin(group, { type: "goals", name, achieved, desired });
      const failure = this.#fleet.collect([group]).get(group);
      if (failure === undefined) return this.#fleet.answers[group].results!;
      if (failure.reason === "error") {
        const error = failure.toThrow();
        error.message = `Cannot judge goals by ${name}: ${failure.what}`;
        throw error;
      }
      this.#lost.set(group, failure);
    }
  };

  /** Groups whose hosts have not failed. */
  #alive(): readonly number[] {
    if (this.#lost.size === 0) return this.#groups;
    return this.#groups.filter((group) => !this.#lost.has(group));
  }

  /**
   * Replaces the hosts that failed; the episodes of their environments, which
   * it returns, end in this step.
   */
  #recover(failures: Failures): readonly number[] | undefined {
    if (failures.size + this.#lost.size === 0) return undefined;
    const broken = new Map([...failures, ...this.#lost]);
    this.#lost.clear();
    for (const group of broken.keys()) cutOff(this.#rows[group]);
    this.#fleet.replace(broken);
    return [...broken.keys()].flatMap((group) => {
      const { first, numEnvs } = this.#hosts.groups[group];
      return Array.from({ length: numEnvs }, (_, i) => first + i);
    });
  }

  /** Throws unless what the hosts returned is finite; nothing is done any more then. */
  #checkData(isReset = false): void {
    const { numEnvs } = this, id = this.spec?.id, arrays = this.#arrays;
    const { observations } = arrays;
    try {
      checkFinite(isReset ? { observations } : arrays, { id, numEnvs });
    } catch (error) {
      throw this.#fleet.restarts.broken = error as Error;
    }
  }

  #checkRunning(): void {
    this.#checkUsable("step");
    if (this.#state === "running") return;
    throw new Error(
      "Cannot step environments as their episodes have not begun: call reset first",
    );
  }

  #checkUsable(action: string): void {
    const { broken } = this.#fleet.restarts;
    if (broken !== undefined) throw broken;
    if (this.#state !== "closed") return;
    throw new TypeError(`Cannot ${action} environments that were closed`);
  }
}
