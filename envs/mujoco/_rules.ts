import type { SeededRandom } from "../random.ts";
import type { PhysicsData, PhysicsModel } from "./_physics.ts";
import type { MujocoOptions } from "./mujoco_options.ts";

/** The actions of all copies; the one in turn begins at `at`. */
export interface ActionRow {
  values: Float32Array;
  at: number;
}

/** Where the observation of the copy in turn is written. */
export interface ObservationRow {
  readonly values: Float64Array;
  at: number;
}

/** What a step came to; overwritten by the next one. */
export interface Outcome {
  reward: number;
  terminated: boolean;
}

/** What is told of a step beside its outcome. */
export type MujocoInfo = Record<string, number | Float64Array>;

/**
 * What a kind of environment does with a simulation: where it starts, what is
 * seen, what a step is worth. One object serves all copies in turn.
 */
export interface MujocoRules {
  /** Numbers of an observation. */
  readonly observationSize: number;
  /** Whether anything depends on `cfrcExt`, which must be computed then. */
  readonly usesContactForces: boolean;
  /** Draws the positions and velocities of an episode's beginning. */
  begin(data: PhysicsData, random: SeededRandom): void;
  /** Where the body is whose speed is measured: `x`, `y` into `place`. */
  locate(data: PhysicsData, place: Float64Array): void;
  /** Writes what is seen. */
  observe(data: PhysicsData, row: ObservationRow): void;
  /**
   * What a step is worth and whether it ended the episode.
   *
   * @param velocity Of the located body over the step, `x` and `y`.
   */
  judge(
    data: PhysicsData,
    velocity: Float64Array,
    action: ActionRow,
  ): Outcome;
  /** What Gymnasium tells of the step that was judged last. */
  info(data: PhysicsData, velocity: Float64Array): MujocoInfo;
}

/** Options that have no default of their own in each kind of environment. */
type Shared = Exclude<
  keyof MujocoOptions,
  "xmlFile" | "frameSkip" | "defaultCameraConfig"
>;

/** The options of a kind of environment with all of its defaults. */
export type Resolved<O extends MujocoOptions> = Readonly<
  Required<Omit<O, Shared>>
>;

/** A kind of environment. */
export interface MujocoTask<O extends MujocoOptions = MujocoOptions> {
  /** Its name without a version, such as `HalfCheetah`. */
  readonly name: string;
  /** Its options where they are left out. */
  readonly defaults: Resolved<O>;
  /** Its rules for a model. */
  rules(model: PhysicsModel, options: Resolved<O>): MujocoRules;
}
