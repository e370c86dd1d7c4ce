/** Hopper and Walker2d: planar bodies that are rewarded for speed and for not falling. */
import {
  type ActionRow,
  append,
  appendClipped,
  type MujocoInfo,
  type MujocoTask,
  type ObservationRow,
  type Outcome,
  type Resolved,
  StateRules,
} from "./_rules.ts";
import type { PhysicsData, PhysicsModel } from "../physics/_physics.ts";
import { actionCost } from "./_numpy_sums.ts";
import type { MujocoOptions } from "./mujoco_options.ts";

type Range = readonly [low: number, high: number];

/** Options of both, of which Hopper has one more. */
type WalkerOptions =
  & Resolved<Walker2dOptions>
  & Pick<HopperOptions, "healthyStateRange">;

/** Range that observed velocities are clipped to. */
const SEEN_SPEEDS: Range = [-10, 10];

function isWithin(value: number, [low, high]: Range): boolean {
  return low < value && value < high;
}

function areWithin(values: Float64Array, from: number, range: Range): boolean {
  for (let i = from; i < values.length; i++) {
    if (!isWithin(values[i], range)) return false;
  }
  return true;
}

class WalkerRules extends StateRules<WalkerOptions> {
  #forward = 0;
  #cost = 0;
  #survival = 0;

  constructor(model: PhysicsModel, options: WalkerOptions) {
    super(model, options, { axes: 1 });
  }

  override locate({ qpos }: PhysicsData, place: Float64Array): void {
    place[0] = qpos[0];
  }

  override observe({ qpos, qvel }: PhysicsData, row: ObservationRow): void {
    append(row, qpos, this.skipped);
    appendClipped(row, qvel, SEEN_SPEEDS);
  }

  #isHealthy({ qpos, qvel }: PhysicsData): boolean {
    const { healthyZRange, healthyAngleRange, healthyStateRange } =
      this.options;
    return isWithin(qpos[1], healthyZRange) &&
      isWithin(qpos[2], healthyAngleRange) &&
      (healthyStateRange === undefined ||
        areWithin(qpos, 2, healthyStateRange) &&
          areWithin(qvel, 0, healthyStateRange));
  }

  evaluate(
    data: PhysicsData,
    velocity: Float64Array,
    action: ActionRow,
  ): Outcome {
    const options = this.options, outcome = this.outcome;
    const isHealthy = this.#isHealthy(data), { nu } = this.model.sizes;
    this.#forward = options.forwardRewardWeight * velocity[0];
    this.#survival = isHealthy ? options.healthyReward : 0;
    this.#cost = actionCost(options.ctrlCostWeight, action, nu);
    outcome.reward = this.#forward + this.#survival - this.#cost;
    outcome.terminated = !isHealthy && options.terminateWhenUnhealthy;
    return outcome;
  }

  info({ qpos }: PhysicsData, velocity: Float64Array): MujocoInfo {
    return {
      x_position: qpos[0],
      z_distance_from_origin: qpos[1] - this.model.qpos0[1],
      x_velocity: velocity[0],
      reward_forward: this.#forward,
      reward_ctrl: -this.#cost,
      reward_survive: this.#survival,
    };
  }
}

/** Options of Hopper. */
export interface HopperOptions extends MujocoOptions {
  /**
   * Weight of the speed along `x`, in metres a second.
   *
   * @default 1
   */
  forwardRewardWeight?: number;
  /**
   * Weight of the control cost, the sum of squared actions.
   *
   * @default 0.001
   */
  ctrlCostWeight?: number;
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
  /**
   * Range of all positions and velocities but `x` and `z` at which the body is
   * healthy.
   *
   * @default [-100, 100]
   */
  healthyStateRange?: readonly [low: number, high: number];
  /**
   * Heights of the body in metres at which it is healthy.
   *
   * @default [0.7, Infinity]
   */
  healthyZRange?: readonly [low: number, high: number];
  /**
   * Angles of the body in radians at which it is healthy.
   *
   * @default [-0.2, 0.2]
   */
  healthyAngleRange?: readonly [low: number, high: number];
  /**
   * Largest distance of initial positions and velocities from the model's.
   *
   * @default 0.005
   */
  resetNoiseScale?: number;
  /**
   * True where observations leave out the position along `x`.
   *
   * @default true
   */
  excludeCurrentPositionsFromObservation?: boolean;
}

/** A planar leg on one foot that is to hop forward. */
export const HOPPER: MujocoTask<HopperOptions> = {
  defaults: {
    xmlFile: "hopper.xml",
    frameSkip: 4,
    defaultCameraConfig: { trackBodyId: 2, distance: 3, lookAt: [0, 0, 1.15] },
    forwardRewardWeight: 1,
    ctrlCostWeight: 0.001,
    healthyReward: 1,
    terminateWhenUnhealthy: true,
    healthyStateRange: [-100, 100],
    healthyZRange: [0.7, Infinity],
    healthyAngleRange: [-0.2, 0.2],
    resetNoiseScale: 0.005,
    excludeCurrentPositionsFromObservation: true,
  },
  rules: (model, options) => new WalkerRules(model, options),
};

/** Options of Walker2d. */
export interface Walker2dOptions extends MujocoOptions {
  /**
   * Weight of the speed along `x`, in metres a second.
   *
   * @default 1
   */
  forwardRewardWeight?: number;
  /**
   * Weight of the control cost, the sum of squared actions.
   *
   * @default 0.001
   */
  ctrlCostWeight?: number;
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
  /**
   * Largest distance of initial positions and velocities from the model's.
   *
   * @default 0.005
   */
  resetNoiseScale?: number;
  /**
   * True where observations leave out the position along `x`.
   *
   * @default true
   */
  excludeCurrentPositionsFromObservation?: boolean;
}

/** A planar body on two legs that is to walk forward. */
export const WALKER_2D: MujocoTask<Walker2dOptions> = {
  defaults: {
    xmlFile: "walker2d_v5.xml",
    frameSkip: 4,
    defaultCameraConfig: { trackBodyId: 2, distance: 4, lookAt: [0, 0, 1.15] },
    forwardRewardWeight: 1,
    ctrlCostWeight: 0.001,
    healthyReward: 1,
    terminateWhenUnhealthy: true,
    healthyZRange: [0.8, 2],
    healthyAngleRange: [-1, 1],
    resetNoiseScale: 0.005,
    excludeCurrentPositionsFromObservation: true,
  },
  rules: (model, options) => new WalkerRules(model, options),
};
