import { AreaResizer } from "../atari/preprocess/area_resizer.ts";
import { Episodes } from "../_episodes.ts";
import { readRow, writeRow } from "../spaces/batch.ts";
import { checkAction } from "../spaces/_action_rows.ts";
import { askingGoals } from "../_goals.ts";
import { checkReset, checkSeed, DEFAULT_SEED, RESET } from "../random.ts";
import type {
  Env,
  EnvSpec,
  GoalFunctions,
  RenderOptions,
  RgbImage,
  Space,
  SpaceValue,
  StateTree,
  StepResult,
} from "@bellman/types";
import { EnvDataError } from "../env_data_error.ts";
import { snapshotRecord } from "../snapshot.ts";
import type {
  GroupAnswer,
  GroupArrays,
  GroupCommand,
} from "../workers/group_hosts.ts";
import { allocateArrays } from "../workers/_group_arrays.ts";
import { waitForAll } from "../workers/_supervisor.ts";
import { checkCount } from "../workers/restarts.ts";
import { HostFailure, timed } from "../workers/host_failure.ts";
import type { HostCommand } from "../workers/threads/_worker_messages.ts";
import { type GymnasiumAnswer, GymnasiumHosts } from "./_gymnasium_hosts.ts";
import type { GymnasiumOptions } from "./python.ts";

/**
 * One environment of Python's Gymnasium, in a separate Python process.
 *
 * Time limits are Gymnasium's own. For snapshots and what they cannot hold see
 * {@linkcode GymnasiumVecEnv}. A process that dies or hangs is not replaced:
 * the environment throws that from then on.
 *
 * @typeParam O An observation, such as `Float32Array`.
 * @typeParam A An action, such as `number`.
 *
 * @example
 * ```ts
 * import { GymnasiumEnv, hasGymnasium } from "@bellman/envs/gymnasium";
 * import { assertEquals } from "@std/assert";
 *
 * if (hasGymnasium()) {
 *   const env = new GymnasiumEnv("FrozenLake-v1", {
 *     kwargs: { is_slippery: false },
 *   });
 *   env.reset({ seed: 0 });
 *   assertEquals(env.step(1).observation, 4);
 *   env.close();
 * }
 * ```
 */
export class GymnasiumEnv<
  O extends SpaceValue = SpaceValue,
  A extends SpaceValue = SpaceValue,
> implements Env<O, A> {
  /** Space of observations. */
  readonly observationSpace: Space;
  /** Space of actions. */
  readonly actionSpace: Space;
  /** Its name, time limit and reward threshold, as Gymnasium has them. */
  readonly spec: EnvSpec;
  /** Steps per second at which its images look as fast as what they show, if Python says. */
  readonly framesPerSecond: number | undefined;
  /** Rewards of goals, where Python computes them. */
  readonly computeReward?: GoalFunctions["computeReward"];
  /** Ends by goals, where Python computes them. */
  readonly computeTerminated?: GoalFunctions["computeTerminated"];

  #id: string;
  #hosts: GymnasiumHosts;
  #arrays: GroupArrays;
  #stepTimeoutMs: number;
  #episodes: Episodes;
  #isSeeded = false;
  #broken: Error | undefined;

  /**
   * Starts Python and waits until it has made the environment.
   *
   * @param id Its name as Gymnasium knows it, with the module in front that
   * registers it where that is needed: `module:Env-v0`.
   * @param options Python, and the environment's own options.
   * @throws {RangeError} If there is no such environment, with the nearest name,
   * or a time-out cannot be used.
   * @throws {TypeError} If Python lacks Gymnasium or a module, or a space has no
   * counterpart here.
   * @throws {Error} If Python or the environment cannot be started.
   */
  constructor(id: string, options: GymnasiumOptions = {}) {
    const { startTimeoutMs = 120_000, stepTimeoutMs = 60_000 } = options;
    checkCount("stepTimeoutMs", stepTimeoutMs, 1);
    checkCount("startTimeoutMs", startTimeoutMs, 1);
    this.#id = id;
    this.#episodes = new Episodes(id);
    this.#stepTimeoutMs = stepTimeoutMs;
    this.#hosts = new GymnasiumHosts(id, {
      ...options,
      groups: [{ first: 0, numEnvs: 1 }],
      resets: false,
      draws: true,
    });
    this.#hosts.start(0);
    let opened: GroupAnswer["opened"];
    try {
      ({ opened } = this.#ask("start", { type: "open" }, startTimeoutMs));
    } catch (error) {
      this.#hosts.close();
      throw error;
    }
    const { observationSpace, actionSpace, spec, framesPerSecond } = opened!;
    this.observationSpace = observationSpace;
    this.actionSpace = actionSpace;
    this.spec = spec!;
    this.framesPerSecond = framesPerSecond;
    this.#arrays = allocateArrays(opened!, 1);
    this.#hosts.attach([this.#arrays]);
    const { actionMasks } = this.#arrays;
    if (actionMasks !== undefined) this.actionMasks = () => actionMasks;
    const judge = askingGoals(
      opened!.goalFunctions,
      (name, achieved, desired) =>
        this.#ask("judge goals of", {
          type: "goals",
          name,
          achieved,
          desired,
        }).results!,
    );
    Object.assign(this, judge);
  }

  /**
   * Returns the actions that the newest observation allows, where Python masks some.
   *
   * @returns 1 or 0 for each choice; reused by the next step.
   */
  actionMasks?(): Uint8Array;

  /**
   * Starts an episode.
   *
   * @param options A seed restarts the random stream; Python gets its lowest
   * 32 bits, as many environments take no more.
   * @returns The first observation.
   * @throws {RangeError} If the seed is not a whole number of at least 0.
   */
  reset(options: { seed?: number } = {}): O {
    checkReset(options, RESET);
    const seed = options.seed ?? (this.#isSeeded ? undefined : DEFAULT_SEED);
    if (seed !== undefined) checkSeed(seed);
    this.#ask("reset", {
      type: "reset",
      seeds: seed === undefined ? undefined : [seed],
    });
    this.#isSeeded = true;
    this.#episodes.stage = "running";
    return this.#observation();
  }

  /**
   * Takes one step.
   *
   * @param action The action. That of a box may lie outside the bounds, and
   * reaches the environment as it is.
   * @returns The step's result, with those entries of Python's `info` that JSON
   * can hold: of NumPy's arrays as lists, of numbers that are not finite as
   * null.
   * @throws {RangeError} If the action is not of the action space: of a box, if it
   * is of another length or type or not finite.
   * @throws {Error} If no episode is under way, or the environment throws: the
   * cause has Python's traceback.
   */
  step(action: A): StepResult<O> {
    checkAction(this.actionSpace, action);
    this.#episodes.checkRunning();
    const { actions, rewards, terminated, truncated } = this.#arrays;
    writeRow(this.actionSpace, action, { batch: actions, row: 0 });
    const { info } = this.#ask("step", { type: "step" });
    const result = {
      observation: this.#observation(),
      reward: rewards[0],
      terminated: terminated[0] !== 0,
      truncated: truncated[0] !== 0,
      ...(info && { info }),
    };
    if (result.terminated || result.truncated) this.#episodes.stage = "ended";
    return result;
  }

  /**
   * Saves the random stream at the beginning of the episode, and the actions
   * since.
   *
   * @returns Plain data that later steps do not change.
   */
  save(): StateTree {
    return {
      status: this.#episodes.stage,
      isSeeded: this.#isSeeded,
      ...this.actionMasks && { actionMasks: this.actionMasks().slice() },
      host: this.#ask("take a snapshot of", { type: "save" }).snapshot!,
    };
  }

  /**
   * Restores a snapshot: exactly, or, where the episode cannot be played again,
   * with a step that tells that it was truncated.
   *
   * @param snapshot The state that `save` returned.
   * @throws {RangeError} If it is of another environment.
   */
  load(snapshot: StateTree): void {
    const keys = ["status", "isSeeded", "host"];
    if (this.actionMasks) keys.push("actionMasks");
    const saved = snapshotRecord(snapshot, keys);
    const { status, isSeeded, host } = saved;
    const command: GroupCommand = { type: "load", snapshot: host };
    const patience = this.#hosts.patience(0, command);
    this.#ask("restore", command, patience * this.#stepTimeoutMs);
    this.#episodes.stage = status as Episodes["stage"];
    this.#isSeeded = isSeeded as boolean;
    this.#arrays.actionMasks?.set(saved.actionMasks as Uint8Array);
  }

  /**
   * Draws the current state.
   *
   * @param options The picture's size; by default the environment's own.
   * @returns The picture.
   * @throws {TypeError} If the environment cannot draw to an array.
   */
  render(options: RenderOptions = {}): RgbImage {
    const picture = this.#ask("render", { type: "render" }).picture!;
    const { width = picture.width, height = picture.height } = options;
    if (width === picture.width && height === picture.height) return picture;
    const to = { width, height };
    const resizer = new AreaResizer(picture, to, { channels: 3 });
    return { ...to, data: resizer.resize(picture.data) };
  }

  /** Ends the process. */
  close(): void {
    this.#broken ??= new TypeError(`Cannot use ${this.#id}, which was closed`);
    this.#hosts.close();
  }

  #observation(): O {
    const batch = this.#arrays.observations;
    return readRow(this.observationSpace, { batch, row: 0 }) as O;
  }

  /** Asks something, waits for the answer, and tells clearly what went wrong. */
  #ask(
    action: string,
    command: HostCommand,
    timeoutMs: number = this.#stepTimeoutMs,
  ): GymnasiumAnswer {
    if (this.#broken !== undefined) throw this.#broken;
    this.#hosts.begin(0, command);
    waitForAll(this.#hosts, [0], timeoutMs);
    try {
      return this.#hosts.finish(0);
    } catch (error) {
      if (!(error instanceof HostFailure)) throw error;
      throw this.#explain(error, action, timeoutMs);
    }
  }

  #explain(failure: HostFailure, action: string, timeoutMs: number): Error {
    if (failure.reason === "error") return this.#explainThrown(failure, action);
    const why = timed(failure, timeoutMs).what;
    this.#broken = new Error(`Cannot ${action} ${this.#id}: ${why}`, {
      cause: failure,
    });
    return this.#broken;
  }

  /** Explains what Python threw; the environment continues. */
  #explainThrown(failure: HostFailure, action: string): Error {
    const isWhole = failure.isWhole || failure.thrown === EnvDataError.name;
    if (isWhole) return failure.toThrow();
    return new Error(
      `Cannot ${action} ${this.#id}: Python raised ${failure.thrown}: ${failure.message}`,
      { cause: failure },
    );
  }
}
