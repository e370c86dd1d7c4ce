import type {
  BoxArray,
  BoxSpace,
  Env,
  RenderOptions,
  RgbImage,
  StateTree,
  StepResult,
  VecStep,
} from "@bellman/types";
import { checkSavedEnvs } from "../_checks.ts";
import { givenOptions } from "@bellman/files/options";
import { Episodes } from "../_episodes.ts";
import { ArrayVecEnv, type BatchedOptions } from "../array_vec_env.ts";
import { checkReset, RESET, type SeededRandom } from "../random.ts";
import { snapshotRecord, wrongEntry } from "../snapshot.ts";
import { checkAction } from "../spaces/_action_rows.ts";
import {
  checkOrigin,
  openSimulations,
  type OpenTask,
  openTask,
  type Simulation,
} from "./_simulation.ts";
import { drawScene } from "./render/_draw_scene.ts";
import type { ActionRow, ObservationRow } from "./tasks/_rules.ts";
import type {
  MujocoChoice,
  MujocoOptionsOf,
  MujocoTaskName,
} from "./tasks/tasks.ts";

/**
 * One environment on MuJoCo, without a time limit. Rewards, terminations,
 * observations and `info` are those of Gymnasium's version 5;
 * the first states of episodes are drawn alike from a random stream of our own.
 *
 * @example
 * ```ts
 * import { isMujocoInstalled, MujocoEnv } from "@bellman/envs/mujoco";
 * import { assertEquals } from "@std/assert";
 *
 * if (isMujocoInstalled()) {
 *   const env = new MujocoEnv("HalfCheetah", { ctrlCostWeight: 0 });
 *   env.reset({ seed: 0 });
 *   const { observation } = env.step(new Float32Array(6));
 *   assertEquals(observation.length, 17);
 *   env.close();
 * }
 * ```
 */
export class MujocoEnv<T extends MujocoChoice = MujocoTaskName>
  implements Env<Float64Array, Float32Array> {
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

  #task: OpenTask;
  #simulation: Simulation;
  #episodes: Episodes;
  #isOpen = true;

  /**
   * Loads the model.
   *
   * @param task The kind of environment, or a custom task.
   * @param options Options that differ from Gymnasium's, or from the task's.
   * @throws {TypeError} If an option is unknown, with the nearest one.
   * @throws {RangeError} If an option cannot be.
   * @throws {Error} If there is no engine or no model, or it cannot be loaded.
   */
  constructor(task: T, options: MujocoOptionsOf<T> = {} as MujocoOptionsOf<T>) {
    this.#task = openTask(task, options);
    this.#episodes = new Episodes(this.#task.name);
    const { model, options: { frameSkip } } = this.#task;
    [this.#simulation] = openSimulations(this.#task, 1);
    this.observationSpace = this.#task.observationSpace;
    this.actionSpace = this.#task.actionSpace;
    this.engine = model.engine;
    this.mujocoVersion = model.version;
    this.dt = model.timestep * frameSkip;
  }

  /** Steps of a second of the simulation. */
  get framesPerSecond(): number {
    return 1 / this.dt;
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
    if (!this.#isOpen) throw closedError(this.#task.name, action);
  }

  /**
   * Starts an episode.
   *
   * @param options A seed restarts the random stream.
   * @returns The first observation.
   * @throws {RangeError} If the seed is not a whole number of at least 0.
   */
  reset(options: { seed?: number } = {}): Float64Array {
    checkReset(options, RESET);
    this.#checkOpen("reset");
    this.#simulation.begin(this.#episodes.begin(options.seed));
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
        `Cannot set the state of ${this.#task.name} to ${qpos.length} positions and ${qvel.length} velocities: expected ${nq} and ${nv} finite numbers`,
      );
    }
    this.#simulation.beginAt(qpos, qvel);
    this.#episodes.stage = "running";
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
    this.#checkOpen("step");
    checkAction(this.actionSpace, action);
    this.#episodes.checkRunning();
    const { reward, terminated } = this.#simulation.step({
      values: action,
      at: 0,
    });
    if (terminated) this.#episodes.stage = "ended";
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
    return {
      ...this.#task.origin,
      ...this.#simulation.save(),
      ...this.#episodes.save(),
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
    const { name, origin } = this.#task;
    checkOrigin(snapshot, origin);
    const state = this.#simulation.read(snapshot, name);
    this.#episodes.load(snapshotRecord(snapshot, ["status", "random"]));
    this.#simulation.load(state);
  }

  /**
   * Draws the current state.
   *
   * @param options The picture's size; that of the environment's options without
   * one.
   * @returns The picture.
   */
  render(options: RenderOptions = {}): RgbImage {
    this.#checkOpen("draw");
    const { model, options: own } = this.#task;
    // Before the first reset, nothing has been computed of the bodies' places.
    if (this.#episodes.stage === "new") this.#simulation.data.forward();
    return drawScene(model, this.#simulation.data, {
      ...own,
      ...givenOptions(options),
    });
  }

  /** Frees the simulation and its model. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#simulation.close();
    this.#task.model.close();
  }
}

function closedError(name: string, action: string): Error {
  return new Error(`Cannot ${action} ${name} as it is closed`);
}

/** Settings of {@linkcode MujocoVecEnv}. */
export interface MujocoVecOptions<T extends MujocoChoice = MujocoChoice>
  extends BatchedOptions {
  /**
   * The environment's own options.
   *
   * @default {}
   */
  kwargs?: MujocoOptionsOf<T>;
}

/**
 * Many environments of a kind that step together on one thread: one model, a
 * simulation for each environment, and the numbers of single ones, bit for bit.
 *
 * @example
 * ```ts
 * import { isMujocoInstalled, MujocoVecEnv } from "@bellman/envs/mujoco";
 * import { assertEquals } from "@std/assert";
 *
 * if (isMujocoInstalled()) {
 *   const env = new MujocoVecEnv("HalfCheetah", { numEnvs: 2 });
 *   env.reset({ seed: 0 });
 *   assertEquals(env.step(new Float32Array(2 * 6)).rewards.length, 2);
 *   env.close();
 * }
 * ```
 */
export class MujocoVecEnv extends ArrayVecEnv<Float64Array, Float32Array> {
  /** Space of one environment's actions. */
  declare readonly actionSpace: BoxSpace;

  #task: OpenTask;
  #simulations: Simulation[];
  #isOpen = true;
  #action: ActionRow = { values: new Float32Array(0), at: 0 };
  #row: ObservationRow = { values: new Float64Array(0), at: 0 };

  /**
   * Loads the model and makes the simulations.
   *
   * @param kind The kind of environment, or a custom task.
   * @param options Number, step limit and own options of the environments.
   * @throws {TypeError} If an option is unknown, with the nearest one.
   * @throws {RangeError} If an option or a number cannot be.
   * @throws {Error} If there is no engine or no model, or it cannot be loaded.
   */
  constructor(kind: MujocoChoice, options: MujocoVecOptions) {
    const { kwargs = {}, ...batch } = options;
    const task = openTask(kind, kwargs);
    super(task, batch);
    this.#task = task;
    this.#simulations = openSimulations(task, batch.numEnvs);
  }

  /**
   * Throws where the environments were closed.
   *
   * @param action The use, such as `reset`.
   */
  protected override checkUsable(action: string): void {
    if (!this.#isOpen) throw closedError(this.#task.name, action);
  }

  /**
   * Draws the first state of an episode.
   *
   * @param row Index of the environment.
   * @param random Its random stream.
   */
  protected override beginRow(row: number, random: SeededRandom): void {
    this.#simulations[row].begin(random);
  }

  /**
   * Writes the current observation of an environment.
   *
   * @param row Index of the environment.
   * @param observations Observations of all environments.
   */
  protected override observeRow(row: number, observations: Float64Array): void {
    this.#row.values = observations;
    this.#row.at = row * this.#task.rules.observationSize;
    this.#simulations[row].observe(this.#row);
  }

  /**
   * Takes one step in every environment.
   *
   * @param actions The controls of each environment, `[numEnvs, nu]`.
   * @param step Result to write into.
   */
  protected override stepRows(actions: BoxArray, step: VecStep): void {
    this.#action.values = actions as Float32Array;
    for (let row = 0; row < this.numEnvs; row++) {
      this.#action.at = row * this.#task.model.sizes.nu;
      const outcome = this.#simulations[row].step(this.#action);
      step.rewards[row] = outcome.reward;
      step.terminated[row] = outcome.terminated ? 1 : 0;
      this.observeRow(row, step.observations as Float64Array);
    }
  }

  /**
   * Saves the states of all simulations.
   *
   * @returns Their origin and the entry `simulations`.
   */
  protected override saveRows(): Record<string, StateTree> {
    const simulations = this.#simulations.map((it) => ({ ...it.save() }));
    return { ...this.#task.origin, simulations };
  }

  /**
   * Reads saved states of the same kind of environment on the same version of
   * MuJoCo with the same `frameSkip`.
   *
   * @param snapshot The whole snapshot.
   * @returns Function that restores them.
   */
  protected override readRows(snapshot: StateTree): () => void {
    const { name, origin } = this.#task;
    checkOrigin(snapshot, origin);
    const { simulations } = snapshotRecord(snapshot, ["simulations"]);
    if (!Array.isArray(simulations)) {
      throw wrongEntry(name, ["simulations", simulations], "a list");
    }
    checkSavedEnvs(this.numEnvs, simulations.length);
    const states = simulations.map((it, i) =>
      this.#simulations[i].read(it, name)
    );
    return () => states.forEach((it, i) => this.#simulations[i].load(it));
  }

  /** Frees the simulations and their model. */
  override close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    for (const simulation of this.#simulations) simulation.close();
    this.#task.model.close();
  }
}
