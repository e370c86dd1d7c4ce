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
import { snapshotRecord } from "../snapshot.ts";
import type { GroupArrays } from "../workers/group_hosts.ts";
import { PythonHost } from "./_python_host.ts";
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

  #host: PythonHost;
  #arrays: GroupArrays;
  #episodes: Episodes;
  #isSeeded = false;

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
    this.#episodes = new Episodes(id);
    this.#host = new PythonHost(id, { ...options, numEnvs: 1 });
    const { opened, arrays } = this.#host;
    const { observationSpace, actionSpace, spec, framesPerSecond } = opened;
    this.observationSpace = observationSpace;
    this.actionSpace = actionSpace;
    this.spec = spec!;
    this.framesPerSecond = framesPerSecond;
    this.#arrays = arrays;
    const { actionMasks } = arrays;
    if (actionMasks !== undefined) this.actionMasks = () => actionMasks;
    const judge = askingGoals(
      opened.goalFunctions,
      (name, achieved, desired) =>
        this.#host.ask("judge goals of", {
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
    this.#host.ask("reset", {
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
    const { info } = this.#host.ask("step", { type: "step" });
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
      host: this.#host.save(),
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
    this.#host.load(host);
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
    return this.#host.render(0, options);
  }

  /** Ends the process. */
  close(): void {
    this.#host.close();
  }

  #observation(): O {
    const batch = this.#arrays.observations;
    return readRow(this.observationSpace, { batch, row: 0 }) as O;
  }
}
