import type {
  Batch,
  BoxSpace,
  Env,
  EnvSpec,
  RenderOptions,
  RgbImage,
  StateTree,
  StepResult,
  VecEnv,
  VecResetOptions,
  VecStep,
} from "@bellman/types";
import {
  checkNumEnvs,
  checkSavedEnvs,
  checkStepLimit,
  givenOptions,
} from "../_checks.ts";
import { allocateStep, type MutableStep } from "../_steps.ts";
import { DEFAULT_SEED, EnvStreams, SeededRandom } from "../random.ts";
import { checkAction, checkActionCount } from "../spaces/_action_rows.ts";
import { areFinite } from "../spaces/arrays.ts";
import {
  arrayEntry,
  openSimulations,
  type OpenTask,
  openTask,
  originalRecord,
  type Simulation,
  type SnapshotOrigin,
  wrongEntry,
} from "./_simulation.ts";
import { drawScene } from "./render/_draw_scene.ts";
import type { ActionRow, ObservationRow } from "./tasks/_rules.ts";
import type { MujocoTaskName, MujocoTaskOptions } from "./tasks/tasks.ts";

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
export class MujocoEnv<N extends MujocoTaskName = MujocoTaskName>
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

  #name: string;
  #task: OpenTask;
  #simulation: Simulation;
  #random: SeededRandom | undefined;
  #status: Status = "new";

  /**
   * Loads the model.
   *
   * @param name The kind of environment.
   * @param options Options that differ from Gymnasium's.
   * @throws {TypeError} If an option is unknown, with the nearest one.
   * @throws {RangeError} If an option cannot be.
   * @throws {Error} If there is no engine or no model, or it cannot be loaded.
   */
  constructor(name: N, options: MujocoTaskOptions[N] = {}) {
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

/** Settings of {@linkcode MujocoVecEnv}. */
export interface MujocoVecOptions<N extends MujocoTaskName = MujocoTaskName> {
  /** Number of environments. */
  numEnvs: number;
  /**
   * Steps after which an episode is truncated.
   *
   * @default Infinity
   */
  maxEpisodeSteps?: number;
  /**
   * The environment's own options.
   *
   * @default {}
   */
  kwargs?: MujocoTaskOptions[N];
  /** The registered specification. */
  spec?: EnvSpec;
}

type Step = MutableStep & {
  observations: Float64Array;
  finalObservations: Float64Array;
};

/** Returns a list of a snapshot, or throws. */
function listOf(
  origin: SnapshotOrigin,
  entry: readonly [name: string, value: StateTree],
): StateTree[] {
  if (Array.isArray(entry[1])) return entry[1];
  throw wrongEntry(origin, entry, "a list");
}

/**
 * Many environments of a kind that step together on one thread: one model, a
 * simulation for each environment, and the numbers of single ones, bit for bit,
 * without anything allocated in a step. Environment `i` is seeded with
 * `deriveSeed(seed, i)`.
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
export class MujocoVecEnv implements VecEnv {
  /** Number of environments. */
  readonly numEnvs: number;
  /** Space of one environment's observations. */
  readonly observationSpace: BoxSpace;
  /** Space of one environment's actions. */
  readonly actionSpace: BoxSpace;
  /** The registered specification, where it was made by name. */
  readonly spec?: EnvSpec;
  /** Steps after which an episode is truncated. */
  readonly maxEpisodeSteps: number;

  #name: string;
  #task: OpenTask;
  #simulations: Simulation[];
  #streams = new EnvStreams();
  #steps: Int32Array;
  #isOpen = true;
  #action: ActionRow = { values: new Float32Array(0), at: 0 };
  #row: ObservationRow;
  #step: Step;

  /**
   * Loads the model and makes the simulations.
   *
   * @param name The kind of environment.
   * @param options Number, step limit and own options of the environments.
   * @throws {TypeError} If an option is unknown, with the nearest one.
   * @throws {RangeError} If an option or a number cannot be.
   * @throws {Error} If there is no engine or no model, or it cannot be loaded.
   */
  constructor(name: MujocoTaskName, options: MujocoVecOptions) {
    const { numEnvs, maxEpisodeSteps = Infinity, kwargs = {} } = options;
    checkNumEnvs(name, numEnvs);
    checkStepLimit(maxEpisodeSteps);
    this.#name = name;
    this.#task = openTask(name, kwargs);
    this.numEnvs = numEnvs;
    this.maxEpisodeSteps = maxEpisodeSteps;
    this.spec = options.spec;
    this.observationSpace = this.#task.observationSpace;
    this.actionSpace = this.#task.actionSpace;
    this.#simulations = openSimulations(this.#task, numEnvs);
    this.#steps = new Int32Array(numEnvs);
    this.#step = allocateStep(this.observationSpace, numEnvs) as Step;
    this.#row = { values: this.#step.observations, at: 0 };
  }

  #checkOpen(action: string): void {
    if (this.#isOpen) return;
    throw new Error(`Cannot ${action} ${this.#name} as it is closed`);
  }

  /**
   * Starts an episode in every environment.
   *
   * @param options A seed, or one for each environment, starts the random streams anew.
   * @returns The first observations; reused by the next step.
   * @throws {RangeError} If a seed is not a whole number of at least 0, or there
   * are too few or too many.
   */
  reset(options: VecResetOptions = {}): Float64Array {
    this.#checkOpen("reset");
    this.#streams.seed(this.numEnvs, options.seed);
    for (let i = 0; i < this.numEnvs; i++) this.#beginRow(i);
    return this.#step.observations;
  }

  #beginRow(i: number): void {
    this.#simulations[i].begin(this.#streams.of(i));
    this.#steps[i] = 0;
    this.#observeRow(i);
  }

  #observeRow(i: number): void {
    this.#row.at = i * this.#task.rules.observationSize;
    this.#simulations[i].observe(this.#row);
  }

  /**
   * Takes one step in every environment.
   *
   * @param actions The controls of each environment, `[numEnvs, nu]`.
   * @returns The step's result; the same object and arrays each time.
   * @throws {RangeError} If there are too few or too many actions, or one is not
   * of the action space; none is stepped then.
   * @throws {Error} If `reset` has not been called.
   */
  step(actions: Batch): VecStep {
    this.#checkActions(actions as Float32Array);
    this.#action.values = actions as Float32Array;
    const { rewards, terminated, truncated } = this.#step;
    for (let i = 0; i < this.numEnvs; i++) {
      this.#action.at = i * this.actionSpace.shape[0];
      const outcome = this.#simulations[i].step(this.#action);
      rewards[i] = outcome.reward;
      terminated[i] = outcome.terminated ? 1 : 0;
      truncated[i] = ++this.#steps[i] >= this.maxEpisodeSteps ? 1 : 0;
      this.#observeRow(i);
      if ((terminated[i] | truncated[i]) !== 0) this.#endRow(i);
    }
    return this.#step;
  }

  #endRow(i: number): void {
    const size = this.#task.rules.observationSize;
    const { observations, finalObservations } = this.#step;
    for (let j = i * size; j < (i + 1) * size; j++) {
      finalObservations[j] = observations[j];
    }
    this.#beginRow(i);
  }

  #checkActions(actions: Float32Array): void {
    this.#checkOpen("step");
    if (!this.#streams.areSeeded) {
      throw new Error(
        `Cannot step ${this.#name} as its episodes have not begun: call reset first`,
      );
    }
    const [size] = this.actionSpace.shape, wanted = this.numEnvs * size;
    checkActionCount(this.numEnvs, actions, wanted);
    if (actions instanceof Float32Array && areFinite(actions)) return;
    for (let i = 0; i < wanted; i += size) {
      checkAction(this.actionSpace, actions.slice(i, i + size));
    }
  }

  /**
   * Saves the states and random streams of all simulations.
   *
   * @returns Plain data that later steps do not change.
   */
  save(): StateTree {
    this.#checkOpen("take a snapshot of");
    return {
      ...this.#task.origin,
      simulations: this.#simulations.map((it) => ({ ...it.save() })),
      steps: this.#steps.slice(),
      observations: this.#step.observations.slice(),
      randoms: this.#streams.save(),
    };
  }

  /**
   * Restores a snapshot.
   *
   * @param snapshot The state that `save` returned.
   * @throws {TypeError} If it is no snapshot of such an environment on the same
   * version of MuJoCo with the same `frameSkip`.
   * @throws {RangeError} If it is of another number of environments.
   */
  load(snapshot: StateTree): void {
    this.#checkOpen("restore");
    const origin = this.#task.origin;
    const keys = ["simulations", "steps", "observations", "randoms"];
    const record = originalRecord(snapshot, origin, keys);
    const simulations = listOf(origin, ["simulations", record.simulations]);
    checkSavedEnvs(this.numEnvs, simulations.length);
    const states = simulations.map((it, i) =>
      this.#simulations[i].read(it, origin)
    );
    const steps = arrayEntry(origin, ["steps", record.steps], [
      Int32Array,
      this.numEnvs,
    ]);
    const observations = arrayEntry(
      origin,
      ["observations", record.observations],
      [Float64Array, this.#step.observations.length],
    );
    const randoms = listOf(origin, ["randoms", record.randoms]);
    // There are none before the first reset.
    if (randoms.length > 0) checkSavedEnvs(this.numEnvs, randoms.length);
    // The last that can refuse, which leaves its streams as they were then.
    this.#streams.load(randoms);
    states.forEach((state, i) => this.#simulations[i].load(state));
    this.#steps.set(steps);
    this.#step.observations.set(observations);
  }

  /**
   * Returns the present observations.
   *
   * @returns The batch; reused by the next step.
   */
  observations(): Float64Array {
    return this.#step.observations;
  }

  /** Frees the simulations and their model. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    for (const simulation of this.#simulations) simulation.close();
    this.#task.model.close();
  }
}
