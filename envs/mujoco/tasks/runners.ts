/** HalfCheetah and Swimmer: bodies that are rewarded for speed and cannot fall. */
import type { PhysicsData, PhysicsModel } from "../physics/_physics.ts";
import {
  type ActionRow,
  drawNormalState,
  drawUniformState,
  type MujocoInfo,
  type MujocoTask,
  type Outcome,
  planarPosition,
  type Resolved,
  StateRules,
} from "./_rules.ts";
import type { MujocoOptions } from "./mujoco_options.ts";
import { actionCost } from "./_numpy_sums.ts";

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
   * Largest distance of initial positions from the model's, and standard deviation
   * of initial velocities.
   *
   * @default 0.1
   */
  resetNoiseScale?: number;
  /**
   * True where observations leave out the position along `x`.
   *
   * @default true
   */
  excludeCurrentPositionsFromObservation?: boolean;
}

/** Options of Swimmer. */
export interface SwimmerOptions extends MujocoOptions {
  /**
   * Weight of the speed along `x`, in metres a second.
   *
   * @default 1
   */
  forwardRewardWeight?: number;
  /**
   * Weight of the control cost, the sum of squared actions.
   *
   * @default 0.0001
   */
  ctrlCostWeight?: number;
  /**
   * Largest distance of initial positions and velocities from the model's.
   *
   * @default 0.1
   */
  resetNoiseScale?: number;
  /**
   * True where observations leave out the positions along `x` and `y`.
   *
   * @default true
   */
  excludeCurrentPositionsFromObservation?: boolean;
}

/** Differences between runners. */
interface Gait {
  /** Number of axes along which they move freely: `x`, or `x` and `y`. */
  readonly axes: 1 | 2;
  /** Draws the initial state. */
  readonly draw: typeof drawUniformState;
}

class RunnerRules extends StateRules<Resolved<HalfCheetahOptions>> {
  #axes: 1 | 2;
  #forward = 0;
  #cost = 0;

  constructor(
    model: PhysicsModel,
    options: Resolved<HalfCheetahOptions>,
    gait: Gait,
  ) {
    super(model, options, gait);
    this.#axes = gait.axes;
  }

  override locate({ qpos }: PhysicsData, place: Float64Array): void {
    for (let axis = 0; axis < this.#axes; axis++) place[axis] = qpos[axis];
  }

  evaluate(
    _data: PhysicsData,
    velocity: Float64Array,
    action: ActionRow,
  ): Outcome {
    const { forwardRewardWeight, ctrlCostWeight } = this.options;
    this.#forward = forwardRewardWeight * velocity[0];
    this.#cost = actionCost(ctrlCostWeight, action, this.model.sizes.nu);
    this.outcome.reward = this.#forward - this.#cost;
    return this.outcome;
  }

  info({ qpos }: PhysicsData, velocity: Float64Array): MujocoInfo {
    const position = this.#axes === 2
      ? planarPosition(qpos, velocity)
      : { x_position: qpos[0], x_velocity: velocity[0] };
    return {
      ...position,
      reward_forward: this.#forward,
      reward_ctrl: -this.#cost,
    };
  }
}

/** A planar runner of two legs that is to run forward. */
export const HALF_CHEETAH: MujocoTask<HalfCheetahOptions> = {
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
export const SWIMMER: MujocoTask<SwimmerOptions> = {
  defaults: {
    xmlFile: "swimmer.xml",
    frameSkip: 4,
    defaultCameraConfig: { distance: 6, elevation: -45 },
    forwardRewardWeight: 1,
    ctrlCostWeight: 0.0001,
    resetNoiseScale: 0.1,
    excludeCurrentPositionsFromObservation: true,
  },
  rules: (model, options) =>
    new RunnerRules(model, options, { axes: 2, draw: drawUniformState }),
};
