import { fileURLToPath } from "node:url";
import type { SeededRandom } from "../../random.ts";
import type {
  MujocoObject,
  MujocoSizes,
  MujocoState,
} from "../physics/_physics.ts";
import type { CameraConfig, MujocoOptions } from "./mujoco_options.ts";

/** The `info` of a step. */
export type MujocoInfo = Record<string, number | Float64Array>;

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
  /** Seconds that a step of the simulation takes. */
  readonly timestep: number;
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
   * Decides by the options if `cfrcExt` is used, which is computed for each step then.
   *
   * @default false
   */
  usesContactForces?(options: O): boolean;
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

/** Options of a kind's own, which all have defaults. */
export type OwnValues<O extends MujocoOptions> = Readonly<
  Required<Omit<O, keyof MujocoOptions | "resetNoiseScale">>
>;

/** Returns the options of a task where they are left out. */
export function defaultsOf(
  { xml, frameSkip = 1, resetNoiseScale = 0, camera = {}, options }: MujocoTask,
): MujocoTaskDefaults {
  return {
    xmlFile: xml instanceof URL ? fileURLToPath(xml) : xml,
    frameSkip,
    defaultCameraConfig: camera,
    resetNoiseScale,
    ...options,
  };
}

/** Options of a task that are never left out, apart from its own. */
export interface MujocoTaskDefaults extends
  Required<
    Pick<MujocoOptions, "xmlFile" | "frameSkip" | "defaultCameraConfig">
  > {
  readonly resetNoiseScale: number;
}
