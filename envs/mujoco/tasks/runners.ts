/** HalfCheetah, Swimmer, Hopper, Walker2d and Ant: bodies that are rewarded for speed. */
import { areFinite } from "../../spaces/arrays.ts";
import type { PhysicsData, PhysicsModel } from "../physics/_physics.ts";
import { actionCost, sumOfSquares } from "./_numpy_sums.ts";
import {
  type ActionRow,
  drawNormalState,
  type MujocoInfo,
  type Outcome,
  type Range,
  type Resolved,
  StateRules,
  type TaskKind,
  VELOCITIES,
  type View,
} from "./_rules.ts";
import type { MujocoOptions } from "./mujoco_options.ts";

/** Options of HalfCheetah. */
export interface HalfCheetahOptions extends MujocoOptions {
  /**
   * Weight of the speed along `x`, in metres a second.
   *
   * @default 1
   */
  forwardRewardWeight?: number;
  /**
   * Weight of the control cost, the sum of squared actions.
   *
   * @default 0.1
   */
  ctrlCostWeight?: number;
  /**
   * Largest distance of initial positions and velocities from the model's; of
   * HalfCheetah and Ant, whose velocities are normal, their standard deviation.
   *
   * @default 0.1
   */
  resetNoiseScale?: number;
  /**
   * True where observations leave out the positions along `x` and, of bodies that
   * move in a plane, `y`.
   *
   * @default true
   */
  excludeCurrentPositionsFromObservation?: boolean;
}

/** Options of Swimmer, where `ctrlCostWeight` is 0.0001 by default. */
export type SwimmerOptions = HalfCheetahOptions;

/** Options that all runners have, and those of health and contacts that some have. */
type RunnerOptions =
  & Resolved<HalfCheetahOptions>
  & Pick<AntOptions, "healthyReward" | "terminateWhenUnhealthy">
  & Pick<AntOptions, "contactCostWeight">;

/**
 * Rules of a body that is rewarded for its speed along `x` and for its health,
 * less the costs of actions and of contacts.
 */
export class RunnerRules<O extends RunnerOptions> extends StateRules<O> {
  #forward = 0;
  #survival = 0;
  #cost = 0;
  #contact = 0;

  override locate({ qpos }: PhysicsData, place: Float64Array): void {
    for (let axis = 0; axis < this.axes; axis++) place[axis] = qpos[axis];
  }

  protected isHealthy(_data: PhysicsData): boolean {
    return true;
  }

  protected controlCost(_data: PhysicsData, action: ActionRow): number {
    return actionCost(
      this.options.ctrlCostWeight,
      action,
      this.model.sizes.nu,
    );
  }

  protected contactCost(_data: PhysicsData): number {
    return 0;
  }

  evaluate(
    data: PhysicsData,
    velocity: Float64Array,
    action: ActionRow,
  ): Outcome {
    const options = this.options, outcome = this.outcome;
    const { healthyReward = 0, terminateWhenUnhealthy = false } = options;
    const isHealthy = this.isHealthy(data);
    this.#forward = options.forwardRewardWeight * velocity[0];
    this.#survival = isHealthy ? healthyReward : 0;
    this.#cost = this.controlCost(data, action);
    this.#contact = this.contactCost(data);
    outcome.reward = this.#forward + this.#survival -
      (this.#cost + this.#contact);
    outcome.terminated = !isHealthy && terminateWhenUnhealthy;
    return outcome;
  }

  info({ qpos }: PhysicsData, velocity: Float64Array): MujocoInfo {
    const { healthyReward, contactCostWeight } = this.options;
    return {
      x_position: qpos[0],
      x_velocity: velocity[0],
      ...(this.axes === 2 && {
        y_position: qpos[1],
        y_velocity: velocity[1],
        distance_from_origin: Math.hypot(qpos[0], qpos[1]),
      }),
      reward_forward: this.#forward,
      reward_ctrl: -this.#cost,
      ...(healthyReward !== undefined && { reward_survive: this.#survival }),
      ...(contactCostWeight !== undefined && {
        reward_contact: -this.#contact,
      }),
    };
  }
}

/** A planar runner of two legs that is to run forward. */
export const HALF_CHEETAH: TaskKind<HalfCheetahOptions> = {
  defaults: {
    xmlFile: "half_cheetah.xml",
    frameSkip: 5,
    defaultCameraConfig: { distance: 4 },
    forwardRewardWeight: 1,
    ctrlCostWeight: 0.1,
    resetNoiseScale: 0.1,
    excludeCurrentPositionsFromObservation: true,
  },
  rules: (model, options) =>
    new RunnerRules(model, options, { axes: 1, draw: drawNormalState }),
};

/** A chain of three links in a fluid that is to swim forward. */
export const SWIMMER: TaskKind<SwimmerOptions> = {
  defaults: {
    xmlFile: "swimmer.xml",
    frameSkip: 4,
    defaultCameraConfig: { distance: 6, elevation: -45 },
    forwardRewardWeight: 1,
    ctrlCostWeight: 0.0001,
    resetNoiseScale: 0.1,
    excludeCurrentPositionsFromObservation: true,
  },
  rules: (model, options) => new RunnerRules(model, options, { axes: 2 }),
};

/** Options of both, of which Hopper has one more. */
type AnyWalkerOptions =
  & Resolved<Walker2dOptions>
  & Pick<HopperOptions, "healthyStateRange">;

/** Velocities that are observed. */
const SEEN_SPEEDS: View = { array: "qvel", range: [-10, 10] };

function isWithin(value: number, [low, high]: Range): boolean {
  return low < value && value < high;
}

function areWithin(values: Float64Array, from: number, range: Range): boolean {
  for (let i = from; i < values.length; i++) {
    if (!isWithin(values[i], range)) return false;
  }
  return true;
}

class WalkerRules extends RunnerRules<AnyWalkerOptions> {
  constructor(model: PhysicsModel, options: AnyWalkerOptions) {
    super(model, options, { axes: 1, views: [SEEN_SPEEDS] });
  }

  protected override isHealthy({ qpos, qvel }: PhysicsData): boolean {
    const { healthyZRange, healthyAngleRange, healthyStateRange } =
      this.options;
    return isWithin(qpos[1], healthyZRange) &&
      isWithin(qpos[2], healthyAngleRange) &&
      (healthyStateRange === undefined ||
        areWithin(qpos, 2, healthyStateRange) &&
          areWithin(qvel, 0, healthyStateRange));
  }

  override info(data: PhysicsData, velocity: Float64Array): MujocoInfo {
    const z_distance_from_origin = data.qpos[1] - this.model.qpos0[1];
    return { ...super.info(data, velocity), z_distance_from_origin };
  }
}

/**
 * Options that Hopper and Walker2d share; `ctrlCostWeight` is 0.001 and
 * `resetNoiseScale` 0.005 by default.
 */
export interface WalkerOptions extends HalfCheetahOptions {
  /**
   * Reward of each step that ends healthy.
   *
   * @default 1
   */
  healthyReward?: number;
  /**
   * True where an episode ends when the body is unhealthy.
   *
   * @default true
   */
  terminateWhenUnhealthy?: boolean;
}

/** Defaults of {@linkcode WalkerOptions}. */
const WALKER_DEFAULTS = {
  forwardRewardWeight: 1,
  ctrlCostWeight: 0.001,
  healthyReward: 1,
  terminateWhenUnhealthy: true,
  resetNoiseScale: 0.005,
  excludeCurrentPositionsFromObservation: true,
};

/**
 * Options of Hopper; `healthyZRange` is [0.7, Infinity] and `healthyAngleRange`
 * [-0.2, 0.2] by default.
 */
export interface HopperOptions extends Walker2dOptions {
  /**
   * Range of all positions and velocities but `x` and `z` at which the body is
   * healthy.
   *
   * @default [-100, 100]
   */
  healthyStateRange?: readonly [low: number, high: number];
}

/** A planar leg on one foot that is to hop forward. */
export const HOPPER: TaskKind<HopperOptions> = {
  defaults: {
    xmlFile: "hopper.xml",
    frameSkip: 4,
    defaultCameraConfig: { trackBodyId: 2, distance: 3, lookAt: [0, 0, 1.15] },
    ...WALKER_DEFAULTS,
    healthyStateRange: [-100, 100],
    healthyZRange: [0.7, Infinity],
    healthyAngleRange: [-0.2, 0.2],
  },
  rules: (model, options) => new WalkerRules(model, options),
};

/** Options of Walker2d. */
export interface Walker2dOptions extends WalkerOptions {
  /**
   * Heights of the body in metres at which it is healthy.
   *
   * @default [0.8, 2]
   */
  healthyZRange?: readonly [low: number, high: number];
  /**
   * Angles of the body in radians at which it is healthy.
   *
   * @default [-1, 1]
   */
  healthyAngleRange?: readonly [low: number, high: number];
}

/** A planar body on two legs that is to walk forward. */
export const WALKER_2D: TaskKind<Walker2dOptions> = {
  defaults: {
    xmlFile: "walker2d_v5.xml",
    frameSkip: 4,
    defaultCameraConfig: { trackBodyId: 2, distance: 4, lookAt: [0, 0, 1.15] },
    ...WALKER_DEFAULTS,
    healthyZRange: [0.8, 2],
    healthyAngleRange: [-1, 1],
  },
  rules: (model, options) => new WalkerRules(model, options),
};

/** Options of Ant, where `ctrlCostWeight` is 0.5 by default. */
export interface AntOptions extends WalkerOptions {
  /**
   * Weight of the contact cost, the sum of squared contact forces.
   *
   * @default 0.0005
   */
  contactCostWeight?: number;
  /**
   * Body whose speed is rewarded, by its number or name.
   *
   * @default 1
   */
  mainBody?: number | string;
  /**
   * Heights of the body in metres at which it is healthy.
   *
   * @default [0.2, 1]
   */
  healthyZRange?: readonly [low: number, high: number];
  /**
   * Range that contact forces are clipped to.
   *
   * @default [-1, 1]
   */
  contactForceRange?: readonly [low: number, high: number];
  /**
   * True where observations hold the forces of contacts.
   *
   * @default true
   */
  includeCfrcExtInObservation?: boolean;
}

/** Contact forces of the world, which is not observed. */
const WORLD_FORCES = 6;

function bodyOf(model: PhysicsModel, body: number | string): number {
  const { nbody } = model.sizes;
  const id = typeof body === "string" ? model.idOf("body", body) : body;
  if (id >= 0 && id < nbody) return id;
  throw new RangeError(
    `Cannot make Ant with mainBody ${
      JSON.stringify(body)
    }: expected a body of the model, by its name or a number from 0 to ${
      nbody - 1
    }`,
  );
}

class AntRules extends RunnerRules<Resolved<AntOptions>> {
  override readonly usesContactForces: boolean;
  #body: number;

  constructor(model: PhysicsModel, options: Resolved<AntOptions>) {
    const { includeCfrcExtInObservation: seesForces } = options;
    const range = options.contactForceRange;
    const forces: View = { array: "cfrcExt", from: WORLD_FORCES, range };
    const views = seesForces ? [VELOCITIES, forces] : [VELOCITIES];
    super(model, options, { axes: 2, views, draw: drawNormalState });
    this.usesContactForces = options.contactCostWeight !== 0 || seesForces;
    this.#body = bodyOf(model, options.mainBody);
  }

  override locate({ xpos }: PhysicsData, place: Float64Array): void {
    place[0] = xpos[3 * this.#body];
    place[1] = xpos[3 * this.#body + 1];
  }

  protected override isHealthy({ qpos, qvel }: PhysicsData): boolean {
    const [low, high] = this.options.healthyZRange;
    return areFinite(qpos) && areFinite(qvel) && low <= qpos[2] &&
      qpos[2] <= high;
  }

  protected override contactCost({ cfrcExt }: PhysicsData): number {
    const { contactCostWeight, contactForceRange: [low, high] } = this.options;
    return contactCostWeight * sumOfSquares(cfrcExt, low, high);
  }
}

/** A body on four legs that is to run forward. */
export const ANT: TaskKind<AntOptions> = {
  defaults: {
    xmlFile: "ant.xml",
    frameSkip: 5,
    defaultCameraConfig: { distance: 4 },
    forwardRewardWeight: 1,
    ctrlCostWeight: 0.5,
    contactCostWeight: 0.0005,
    healthyReward: 1,
    mainBody: 1,
    terminateWhenUnhealthy: true,
    healthyZRange: [0.2, 1],
    contactForceRange: [-1, 1],
    resetNoiseScale: 0.1,
    excludeCurrentPositionsFromObservation: true,
    includeCfrcExtInObservation: true,
  },
  rules: (model, options) => new AntRules(model, options),
};
