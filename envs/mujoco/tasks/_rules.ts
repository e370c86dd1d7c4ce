import type { SeededRandom } from "../../random.ts";
import {
  type MujocoObject,
  PHYSICS_ARRAYS,
  type PhysicsArray,
  type PhysicsData,
  type PhysicsModel,
} from "../physics/_physics.ts";
import type { MujocoOptions } from "./mujoco_options.ts";

/** Actions of all environments of a batch; the current one begins at `at`. */
export interface ActionRow {
  values: Float32Array;
  at: number;
}

/** Observations of all environments of a batch; the current one is written at `at`. */
export interface ObservationRow {
  values: Float64Array;
  at: number;
}

/** Reward and end of a step; overwritten by the next one. */
export interface Outcome {
  reward: number;
  terminated: boolean;
}

/** The `info` of a step. */
export type MujocoInfo = Record<string, number | Float64Array>;

/**
 * Initial states, observations and rewards of a kind of environment. One object
 * serves all environments of a batch in turn.
 */
export abstract class MujocoRules<O = unknown> {
  /** Numbers of an observation. */
  abstract readonly observationSize: number;
  /** True where anything depends on `cfrcExt`, which must be computed then. */
  readonly usesContactForces: boolean = false;
  protected readonly model: PhysicsModel;
  protected readonly options: O;
  /** The outcome that `evaluate` returns each time. */
  protected readonly outcome: Outcome = { reward: 0, terminated: false };

  constructor(model: PhysicsModel, options: O) {
    this.model = model;
    this.options = options;
  }

  /** Draws the positions and velocities of an episode's beginning. */
  abstract begin(data: PhysicsData, random: SeededRandom): void;

  /** Writes the position of the body whose speed is measured, if any: `x`, `y`. */
  locate(_data: PhysicsData, _place: Float64Array): void {}

  /** Writes the observation. */
  abstract observe(data: PhysicsData, row: ObservationRow): void;

  /**
   * Computes reward and end of a step.
   *
   * @param velocity Mean velocity of the located body over the step, `x` and `y`.
   */
  abstract evaluate(
    data: PhysicsData,
    velocity: Float64Array,
    action: ActionRow,
  ): Outcome;

  /** Returns Gymnasium's `info` of the step that was evaluated last. */
  abstract info(data: PhysicsData, velocity: Float64Array): MujocoInfo;
}

/** Lower and upper end. */
export type Range = readonly [low: number, high: number];

/** Numbers of the simulation that an observation shows. */
export interface View {
  readonly array: PhysicsArray;
  /** First of them that is shown, 0 by default. */
  readonly from?: number;
  /** Range that they are clipped to, if any. */
  readonly range?: Range;
}

/** Rules of a model that begins near its first state and shows its state. */
export abstract class StateRules<
  O extends {
    readonly resetNoiseScale: number;
    readonly excludeCurrentPositionsFromObservation?: boolean;
  },
> extends MujocoRules<O> {
  readonly observationSize: number;
  /** Number of axes along which the body moves freely. */
  protected readonly axes: number;
  readonly #views: readonly View[];
  readonly #draw: typeof drawUniformState;

  /**
   * @param form.axes Number of axes along which the body moves freely: options
   * may exclude these positions.
   * @param form.views Numbers that are observed after the positions.
   * @param form.draw Draw of the first state.
   */
  constructor(
    model: PhysicsModel,
    options: O,
    { axes, views = [VELOCITIES], draw = drawUniformState }: {
      axes: number;
      views?: readonly View[];
      draw?: typeof drawUniformState;
    },
  ) {
    super(model, options);
    const skipped = options.excludeCurrentPositionsFromObservation ? axes : 0;
    this.#views = [{ array: "qpos", from: skipped }, ...views];
    this.observationSize = this.#views.reduce((sum, { array, from = 0 }) => {
      const { rows, width } = PHYSICS_ARRAYS[array];
      return sum + model.sizes[rows] * width - from;
    }, 0);
    this.axes = axes;
    this.#draw = draw;
  }

  begin(data: PhysicsData, random: SeededRandom): void {
    this.#draw(data, this.model, random, this.options.resetNoiseScale);
  }

  observe(data: PhysicsData, row: ObservationRow): void {
    for (const { array, from, range } of this.#views) {
      if (range === undefined) append(row, data[array], from);
      else appendClipped(row, data[array], range, from);
    }
  }
}

/** All velocities. */
export const VELOCITIES: View = { array: "qvel" };

/** Writes numbers `from` up to and without `to` into an observation. */
export function append(
  row: ObservationRow,
  values: ArrayLike<number>,
  from: number = 0,
  to: number = values.length,
): void {
  const seen = row.values;
  let at = row.at;
  for (let i = from; i < to; i++) seen[at++] = values[i];
  row.at = at;
}

/** Writes numbers from `from` on, each clipped to a range. */
function appendClipped(
  row: ObservationRow,
  values: Float64Array,
  [low, high]: Range,
  from: number = 0,
): void {
  const seen = row.values;
  let at = row.at;
  for (let i = from; i < values.length; i++) {
    seen[at++] = Math.min(Math.max(values[i], low), high);
  }
  row.at = at;
}

/** Returns the number of a named thing; throws where the model has none. */
export function idOf(
  model: PhysicsModel,
  [kind, name]: readonly [kind: MujocoObject, name: string],
  task: string,
): number {
  const id = model.idOf(kind, name);
  if (id >= 0) return id;
  throw new RangeError(
    `Cannot make ${task} of a model without a ${kind} named '${name}'`,
  );
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
export interface TaskKind<O extends MujocoOptions = MujocoOptions> {
  /** Its options where they are left out. */
  readonly defaults: Resolved<O>;
  /** Makes its rules for a model. */
  rules(model: PhysicsModel, options: Resolved<O>): MujocoRules;
}

/** Draws positions within `scale` of the model's. */
export function drawPositions(
  { qpos }: PhysicsData,
  { qpos0 }: PhysicsModel,
  random: SeededRandom,
  scale: number,
): void {
  for (let i = 0; i < qpos.length; i++) {
    qpos[i] = qpos0[i] + random.uniform(-scale, scale);
  }
}

/** Draws velocities between `-scale` and `scale`. */
export function drawVelocities(
  { qvel }: PhysicsData,
  random: SeededRandom,
  scale: number,
): void {
  for (let i = 0; i < qvel.length; i++) qvel[i] = random.uniform(-scale, scale);
}

/** Draws positions and velocities within `scale` of the model's. */
export function drawUniformState(
  data: PhysicsData,
  model: PhysicsModel,
  random: SeededRandom,
  scale: number,
): void {
  drawPositions(data, model, random, scale);
  drawVelocities(data, random, scale);
}

/**
 * Draws positions within `scale` of the model's, and normal velocities of mean 0
 * and standard deviation `scale`.
 */
export function drawNormalState(
  data: PhysicsData,
  model: PhysicsModel,
  random: SeededRandom,
  scale: number,
): void {
  drawPositions(data, model, random, scale);
  const { qvel } = data;
  for (let i = 0; i < qvel.length; i++) qvel[i] = scale * random.normal();
}
