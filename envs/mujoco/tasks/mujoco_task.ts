import { fileURLToPath } from "node:url";
import { EnvDataError } from "../../env_data_error.ts";
import type { SeededRandom } from "../../random.ts";
import type {
  MujocoObject,
  MujocoSizes,
  MujocoState,
  PhysicsData,
  PhysicsModel,
} from "../physics/_physics.ts";
import type { CameraConfig, MujocoOptions } from "./mujoco_options.ts";
import {
  type ActionRow,
  append,
  drawNormalState,
  drawUniformState,
  idOf,
  type MujocoInfo,
  MujocoRules,
  type ObservationRow,
  type Outcome,
  type Resolved,
  type TaskKind,
} from "./_rules.ts";

/** Options of a task's own with their defaults; a pair is a range. */
export type MujocoTaskValues = Readonly<
  Record<
    string,
    number | boolean | string | readonly [low: number, high: number]
  >
>;

/** Model that a task is played in. */
export interface MujocoModel {
  /** Lengths of positions, velocities and controls; numbers of things. */
  readonly sizes: MujocoSizes;
  /** Seconds that a step of the environment takes. */
  readonly dt: number;
  /** Positions that the model starts from, `[nq]`. */
  readonly qpos0: Float64Array;
  /** Masses of the bodies, `[nbody]`. */
  readonly bodyMass: Float64Array;
  /**
   * Finds the number of a named thing: its row in the arrays.
   *
   * @throws {RangeError} If the model has none of that name.
   */
  idOf(kind: MujocoObject, name: string): number;
}

/** Inputs of a task in addition to the state of the simulation. */
export interface MujocoContext<O> {
  /** The model. */
  readonly model: MujocoModel;
  /** The task's own options, as they were given. */
  readonly options: O;
}

/** Beginning of an episode. */
export interface MujocoStart<O> extends MujocoContext<O> {
  /** The environment's stream of random numbers, which snapshots hold. */
  readonly random: SeededRandom;
}

/** Step that is judged; overwritten by the next one. */
export interface MujocoStep<O> extends MujocoContext<O> {
  /** The action as it was given, `[nu]`. */
  readonly action: Float32Array;
  /** Mean velocity of `place` over the step, `x` and `y` a second. */
  readonly velocity: Float64Array;
  /** True where `isTerminated` says so of this step. */
  readonly terminated: boolean;
}

/**
 * A task on MuJoCo: a model, and functions that begin its episodes, observe and
 * judge them. They depend on their arguments alone, so that snapshots hold all:
 * what an episode has to remember, such as a goal, is a position of the model.
 *
 * @typeParam O Options of its own.
 */
export interface MujocoTask<O extends MujocoTaskValues = MujocoTaskValues> {
  /** Name for messages and snapshots. */
  readonly name: string;
  /**
   * Model: its text, which begins with `<`, a file, or a name such as
   * `half_cheetah.xml` among the installed ones. A model given as text, or
   * run in WebAssembly, may name no other files.
   */
  readonly xml: string | URL;
  /**
   * Steps of the simulation for each step of the environment.
   *
   * @default 1
   */
  readonly frameSkip?: number;
  /**
   * Largest distance of initial positions, and of velocities, from the model's.
   *
   * @default 0
   */
  readonly resetNoiseScale?: number;
  /**
   * Distribution of initial velocities: `normal` takes `resetNoiseScale` as the
   * standard deviation.
   *
   * @default "uniform"
   */
  readonly velocityNoise?: "uniform" | "normal";
  /**
   * Camera of `render`.
   *
   * @default one that follows body 1
   */
  readonly camera?: CameraConfig;
  /**
   * Options of its own with their defaults.
   *
   * @default {}
   */
  readonly options?: O;
  /**
   * True where `cfrcExt` is used, which is computed for each step then.
   *
   * @default false
   */
  readonly usesContactForces?: boolean;
  /**
   * Changes the first state of an episode, after the noise.
   *
   * @default the model's state and the noise
   */
  begin?(state: MujocoState, start: MujocoStart<O>): void;
  /**
   * Returns the parts of an observation: numbers and arrays, always as many.
   *
   * @default positions and velocities
   */
  observe?(
    state: MujocoState,
    context: MujocoContext<O>,
  ): readonly (number | ArrayLike<number>)[];
  /**
   * Returns the position whose mean velocity over a step is reported, in the plane.
   *
   * @default none, with a velocity of 0
   */
  place?(
    state: MujocoState,
    context: MujocoContext<O>,
  ): readonly [x: number, y?: number];
  /**
   * Decides if a step ends its episode in a state from which nothing more can be
   * earned. A time limit is no such state: registering a task gives it one.
   *
   * @default false for any step
   */
  isTerminated?(
    state: MujocoState,
    step: Omit<MujocoStep<O>, "terminated">,
  ): boolean;
  /** Returns the reward, or its parts by their names in `info`. */
  reward(
    state: MujocoState,
    step: MujocoStep<O>,
  ): number | Readonly<Record<string, number>>;
  /**
   * Returns what single environments add to `info` in addition to the reward's parts.
   *
   * @default {}
   */
  info?(state: MujocoState, step: MujocoStep<O>): MujocoInfo;
}

/** Options of an environment of a task: those of all, and the task's own. */
export type MujocoOwnOptions<O extends MujocoTaskValues> =
  & MujocoOptions
  & { resetNoiseScale?: number }
  // Of a task that is not known there may be any.
  & (string extends keyof O ? Record<string, unknown> : Partial<O>);

/**
 * Returns a task as it is, checked and with its types: the argument of
 * `MujocoEnv`, `MujocoVecEnv` and `registerMujoco`.
 *
 * @param task The task.
 * @returns The task.
 * @throws {TypeError} If it has no name, no model or no reward.
 * @example
 * ```ts
 * import { isMujocoInstalled, MujocoEnv, mujocoTask } from "@bellman/envs/mujoco";
 * import { assertEquals } from "@std/assert";
 *
 * const slider = mujocoTask({
 *   name: "Slider",
 *   xml: `<mujoco><worldbody><body>
 *       <joint name="slide" type="slide" axis="1 0 0"/>
 *       <geom type="sphere" size="0.1" mass="1"/>
 *     </body></worldbody>
 *     <actuator><motor joint="slide" ctrlrange="-1 1"/></actuator></mujoco>`,
 *   reward: ({ qpos }) => -Math.abs(qpos[0] - 1),
 *   isTerminated: ({ qpos }) => Math.abs(qpos[0]) > 3,
 * });
 * if (isMujocoInstalled()) {
 *   const env = new MujocoEnv(slider);
 *   assertEquals(env.reset({ seed: 0 }), new Float64Array(2));
 *   env.close();
 * }
 * ```
 */
export function mujocoTask<O extends MujocoTaskValues = Record<never, never>>(
  task: MujocoTask<O>,
): MujocoTask<O> {
  const { name, xml, reward } = task;
  const isText = typeof xml === "string" && xml.trim() !== "";
  const wrong = typeof name !== "string" || name.trim() === ""
    ? "name: expected a text"
    : !isText && !(xml instanceof URL)
    ? "xml: expected a model's text, file or URL"
    : typeof reward !== "function"
    ? "reward: expected a function"
    : undefined;
  if (wrong === undefined) return task;
  throw new TypeError(`Cannot make a task on MuJoCo with this ${wrong}`);
}

/** Returns the form in which all kinds of environments are played. */
export function taskKind<O extends MujocoTaskValues>(
  task: MujocoTask<O>,
): TaskKind<MujocoOwnOptions<O>> {
  const { xml, frameSkip = 1, resetNoiseScale = 0, camera = {}, options } =
    mujocoTask(task);
  return {
    defaults: {
      xmlFile: xml instanceof URL ? fileURLToPath(xml) : xml,
      frameSkip,
      defaultCameraConfig: camera,
      resetNoiseScale,
      ...options,
    } as unknown as Resolved<MujocoOwnOptions<O>>,
    rules: (model, all) =>
      new TaskRules(task, model, all as unknown as Settings<O>),
  };
}

/** Options of a task with all defaults. */
type Settings<O> = O & { resetNoiseScale: number; frameSkip: number };

/** Present step, which is written over. */
type Judged<O> = { -readonly [K in keyof MujocoStep<O>]: MujocoStep<O>[K] };

/** Rules that functions of a task say. */
class TaskRules<O extends MujocoTaskValues> extends MujocoRules<Settings<O>> {
  readonly observationSize: number;
  override readonly usesContactForces: boolean;
  #task: MujocoTask<O>;
  #step: Judged<O>;
  /** Parts of the last reward. */
  #parts: Readonly<Record<string, number>> = {};

  constructor(
    task: MujocoTask<O>,
    model: PhysicsModel,
    options: Settings<O>,
  ) {
    super(model, options);
    checkActuators(task.name, model);
    this.#task = task;
    this.usesContactForces = task.usesContactForces ?? false;
    this.#step = {
      model: toldModel(task.name, model, options.frameSkip),
      options,
      action: new Float32Array(model.sizes.nu),
      velocity: new Float64Array(2),
      terminated: false,
    };
    this.observationSize = this.#countObserved();
  }

  /** Counts the numbers of an observation by the model's first state. */
  #countObserved(): number {
    const { nq, nv } = this.model.sizes;
    if (this.#task.observe === undefined) return nq + nv;
    const data = this.model.makeData();
    try {
      data.forward();
      return countOf(this.#task.observe(data, this.#step));
    } finally {
      data.close();
    }
  }

  begin(data: PhysicsData, random: SeededRandom): void {
    const { velocityNoise } = this.#task, { model, options } = this;
    const draw = velocityNoise === "normal"
      ? drawNormalState
      : drawUniformState;
    if (options.resetNoiseScale !== 0) {
      draw(data, model, random, options.resetNoiseScale);
    }
    this.#task.begin?.(data, { ...this.#step, random });
  }

  override locate(data: PhysicsData, place: Float64Array): void {
    if (this.#task.place === undefined) return;
    const at = this.#task.place(data, this.#step);
    place[0] = at[0];
    place[1] = at[1] ?? 0;
  }

  observe(data: PhysicsData, row: ObservationRow): void {
    if (this.#task.observe === undefined) {
      append(row, data.qpos);
      append(row, data.qvel);
      return;
    }
    const parts = this.#task.observe(data, this.#step);
    // Before it is written, as what follows is another environment's.
    const size = countOf(parts), begin = row.at;
    if (size !== this.observationSize) {
      const wanted = `${this.observationSize}, as at first`;
      throw this.#fault("the observation", `of ${size} numbers`, wanted);
    }
    for (const part of parts) {
      append(row, typeof part === "number" ? [part] : part);
    }
    for (let at = 0; at < size; at++) {
      const value = row.values[begin + at];
      if (Number.isFinite(value)) continue;
      throw this.#fault(`observation[${at}]`, value, "a finite number");
    }
  }

  evaluate(
    data: PhysicsData,
    velocity: Float64Array,
    { values, at }: ActionRow,
  ): Outcome {
    const step = this.#step, task = this.#task, outcome = this.outcome;
    step.velocity = velocity;
    for (let i = 0; i < step.action.length; i++) {
      step.action[i] = values[at + i];
    }
    step.terminated = task.isTerminated?.(data, step) ?? false;
    if (typeof step.terminated !== "boolean") {
      throw this.#fault("terminated", step.terminated, "true or false");
    }
    const reward = task.reward(data, step);
    if (typeof reward === "object" && reward !== null) {
      this.#parts = reward;
      outcome.reward = 0;
      for (const part in reward) outcome.reward += reward[part];
    } else {
      outcome.reward = reward;
    }
    if (!Number.isFinite(outcome.reward)) {
      throw this.#fault("the reward", outcome.reward, "a finite number");
    }
    outcome.terminated = step.terminated;
    return outcome;
  }

  info(data: PhysicsData, velocity: Float64Array): MujocoInfo {
    this.#step.velocity = velocity;
    return { ...this.#task.info?.(data, this.#step), ...this.#parts };
  }

  #fault(field: string, got: unknown, wanted: string): EnvDataError {
    return new EnvDataError({ field, got: String(got), wanted }, {
      id: this.#task.name,
    });
  }
}

/** Refuses a model in which there is nothing to do. */
function checkActuators(task: string, { ctrlRange }: PhysicsModel): void {
  if (ctrlRange.length === 0) {
    throw new RangeError(`Cannot make ${task} of a model without actuators`);
  }
  for (let i = 0; i < ctrlRange.length; i += 2) {
    if (ctrlRange[i] < ctrlRange[i + 1]) continue;
    throw new RangeError(
      `Cannot make ${task} of a model whose actuator ${
        i / 2
      } has no range: expected one, such as ctrlrange="-1 1"`,
    );
  }
}

/** Counts the numbers of the parts of an observation. */
function countOf(parts: readonly (number | ArrayLike<number>)[]): number {
  let count = 0;
  for (const part of parts) count += typeof part === "number" ? 1 : part.length;
  return count;
}

/** Returns what a task is told of its model. */
function toldModel(
  task: string,
  model: PhysicsModel,
  frameSkip: number,
): MujocoModel {
  const { sizes, qpos0, bodyMass, timestep } = model;
  const known = new Map<string, number>();
  return {
    sizes,
    qpos0,
    bodyMass,
    dt: timestep * frameSkip,
    idOf(kind, name) {
      const key = `${kind} ${name}`;
      const id = known.get(key) ?? idOf(model, [kind, name], task);
      known.set(key, id);
      return id;
    },
  };
}
