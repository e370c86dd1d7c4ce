import { BipedRules } from "./_biped_rules.ts";
import type { MujocoTask } from "./_rules.ts";
import type { MujocoOptions } from "./mujoco_options.ts";

/** Options of Walker2d. */
export interface Walker2dOptions extends MujocoOptions {
  /**
   * What the speed along `x` in metres a second is multiplied by.
   *
   * @default 1
   */
  forwardRewardWeight?: number;
  /**
   * What the sum of squared actions is multiplied by and costs.
   *
   * @default 0.001
   */
  ctrlCostWeight?: number;
  /**
   * The reward of each step that ends healthy.
   *
   * @default 1
   */
  healthyReward?: number;
  /**
   * Whether an episode ends when the body is unhealthy.
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
   * How far the first positions and velocities lie from the model's at most.
   *
   * @default 0.005
   */
  resetNoiseScale?: number;
  /**
   * Whether observations leave out the position along `x`.
   *
   * @default true
   */
  excludeCurrentPositionsFromObservation?: boolean;
}

/** A planar body on two legs that is to walk forward. */
export const WALKER_2D: MujocoTask<Walker2dOptions> = {
  name: "Walker2d",
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
  rules: (model, options) => new BipedRules(model, options),
};
