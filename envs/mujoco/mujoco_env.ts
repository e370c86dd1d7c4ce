import { checkAction } from "../spaces/_action_rows.ts";
import { givenOptions } from "../_checks.ts";
import type {
  BoxSpace,
  Env,
  RenderOptions,
  RgbImage,
  StateTree,
  StepResult,
} from "@bellman/types";
import { DEFAULT_SEED, SeededRandom } from "../random.ts";
import {
  openSimulations,
  type OpenTask,
  openTask,
  originalRecord,
  type Simulation,
  wrongEntry,
} from "./_simulation.ts";
import type { MujocoTaskName } from "./tasks/tasks.ts";
import { drawScene } from "./render/_draw_scene.ts";
import type { MujocoOptions } from "./tasks/mujoco_options.ts";

/** Stages of an episode; what is closed has no snapshot. */
const SAVED = ["new", "running", "ended"] as const;

type Status = typeof SAVED[number] | "closed";

const WHY: Readonly<Record<Exclude<Status, "running">, string>> = {
  new: "its episode has not begun: call reset first",
  ended: "its episode ended in the step before: call reset first",
  closed: "it is closed",
};

/**
 * One environment on MuJoCo, without a time limit. Rewards, terminations,
 * observations and `info` are those of Gymnasium's version 5;
 * the first states of episodes are drawn alike from a random stream of our own.
 *
 * @example
 * ```ts
 * import { HalfCheetahEnv, isMujocoInstalled, MujocoEnv } from "@bellman/envs/mujoco";
 * import { assert } from "@std/assert";
 *
 * if (isMujocoInstalled()) {
 *   const env = new HalfCheetahEnv();
 *   assert(env instanceof MujocoEnv);
 *   env.close();
 * }
 * ```
 */
export abstract class MujocoEnv implements Env<Float64Array, Float32Array> {
  /** Space of observations. */
  readonly observationSpace: BoxSpace;
  /** Space of actions. */
  readonly actionSpace: BoxSpace;
  /** The engine that computes. */
  readonly engine: "native" | "wasm";
  /** MuJoCo's version, such as `4.0.0`. */
  readonly mujocoVersion: string;
  /** Seconds that one step takes in the simulation. */
  readonly dt: number;

  #name: string;
  #task: OpenTask;
  #simulation: Simulation;
  #random: SeededRandom | undefined;
  #status: Status = "new";

  /**
   * Loads a kind of environment.
   *
   * @param name The kind.
   * @param options Its options.
   * @throws {TypeError} If an option is unknown, with the nearest one.
   * @throws {RangeError} If an option cannot be.
   * @throws {Error} If there is no engine or no model, or it cannot be loaded.
   */
  constructor(name: MujocoTaskName, options: MujocoOptions) {
    this.#name = name;
    this.#task = openTask(name, options);
    const { model, options: { frameSkip } } = this.#task;
    [this.#simulation] = openSimulations(this.#task, 1);
    this.observationSpace = this.#task.observationSpace;
    this.actionSpace = this.#task.actionSpace;
    this.engine = model.engine;
    this.mujocoVersion = model.version;
    this.dt = model.timestep * frameSkip;
  }

  /** Positions, `[nq]`: a copy. */
  get qpos(): Float64Array {
    this.#checkOpen("read");
    return this.#simulation.data.qpos.slice();
  }

  /** Velocities, `[nv]`: a copy. */
  get qvel(): Float64Array {
    this.#checkOpen("read");
    return this.#simulation.data.qvel.slice();
  }

  #checkOpen(action: string): void {
    if (this.#status !== "closed") return;
    throw new Error(`Cannot ${action} ${this.#name} as ${WHY.closed}`);
  }

  /**
   * Starts an episode.
   *
   * @param options A seed starts the random stream anew.
   * @returns The first observation.
   * @throws {RangeError} If the seed is not a whole number of at least 0.
   */
  reset(options: { seed?: number } = {}): Float64Array {
    this.#checkOpen("reset");
    if (options.seed !== undefined) {
      this.#random = new SeededRandom(options.seed);
    }
    this.#random ??= new SeededRandom(DEFAULT_SEED);
    this.#simulation.begin(this.#random);
    this.#status = "running";
    return this.#observation();
  }

  /**
   * Starts an episode from given positions and velocities: time, controls and
   * the solver's first guess are as after a reset.
   *
   * @param qpos Positions, `[nq]`.
   * @param qvel Velocities, `[nv]`.
   * @returns The first observation.
   * @throws {RangeError} If there are too few or too many numbers, or one is not
   * finite.
   */
  setState(
    qpos: ArrayLike<number>,
    qvel: ArrayLike<number>,
  ): Float64Array {
    this.#checkOpen("set the state of");
    const { nq, nv } = this.#task.model.sizes;
    const isFine = qpos.length === nq && qvel.length === nv &&
      Array.from(qpos).every(Number.isFinite) &&
      Array.from(qvel).every(Number.isFinite);
    if (!isFine) {
      throw new RangeError(
        `Cannot set the state of ${this.#name} to ${qpos.length} positions and ${qvel.length} velocities: expected ${nq} and ${nv} finite numbers`,
      );
    }
    this.#simulation.beginAt(qpos, qvel);
    this.#status = "running";
    return this.#observation();
  }

  /**
   * Takes one step.
   *
   * @param action The controls, `[nu]`; the simulation clips them where its model
   * has limits.
   * @returns The step's result, with Gymnasium's `info`; never truncated.
   * @throws {RangeError} If the action has another length or a number is not
   * finite.
   * @throws {Error} If no episode is under way.
   */
  step(action: Float32Array): StepResult<Float64Array> {
    checkAction(this.actionSpace, action);
    if (this.#status !== "running") {
      throw new Error(`Cannot step ${this.#name} as ${WHY[this.#status]}`);
    }
    const { reward, terminated } = this.#simulation.step({
      values: action,
      at: 0,
    });
    if (terminated) this.#status = "ended";
    return {
      observation: this.#observation(),
      reward,
      terminated,
      truncated: false,
      info: this.#simulation.info(),
    };
  }

  #observation(): Float64Array {
    const values = new Float64Array(this.observationSpace.shape[0]);
    this.#simulation.observe({ values, at: 0 });
    return values;
  }

  /**
   * Saves the state of the simulation and the random stream.
   *
   * @returns Plain data that later steps do not change.
   */
  save(): StateTree {
    this.#checkOpen("take a snapshot of");
    const { physics, place } = this.#simulation.save();
    return {
      ...this.#task.origin,
      physics,
      place,
      status: this.#status,
      random: this.#random?.save() ?? null,
    };
  }

  /**
   * Restores a snapshot.
   *
   * @param snapshot The state that `save` returned.
   * @throws {TypeError} If it is no snapshot of such an environment on the same
   * version of MuJoCo with the same `frameSkip`.
   */
  load(snapshot: StateTree): void {
    this.#checkOpen("restore");
    const keys = ["physics", "place", "status", "random"];
    const record = originalRecord(snapshot, this.#task.origin, keys);
    const state = this.#simulation.read(record, this.#task.origin);
    const status = SAVED.find((it) => it === record.status);
    if (status === undefined) {
      const entry = ["status", record.status] as const;
      throw wrongEntry(this.#task.origin, entry, SAVED.join(", "));
    }
    const { random } = record;
    const stream = random === null ? undefined : new SeededRandom(DEFAULT_SEED);
    stream?.load(random);
    this.#simulation.load(state);
    this.#status = status;
    this.#random = stream;
  }

  /**
   * Draws the present state.
   *
   * @param options The picture's size; that of the environment's options without
   * one.
   * @returns The picture.
   */
  render(options: RenderOptions = {}): RgbImage {
    this.#checkOpen("draw");
    const { model, options: own } = this.#task;
    // Before the first reset, nothing has been computed of the bodies' places.
    if (this.#status === "new") this.#simulation.data.forward();
    return drawScene(model, this.#simulation.data, {
      ...own,
      ...givenOptions(options),
    });
  }

  /** Frees the simulation and its model. */
  close(): void {
    if (this.#status === "closed") return;
    this.#status = "closed";
    this.#simulation.close();
    this.#task.model.close();
  }
}
