import { normalVelocities } from "./_begin.ts";
import type { MujocoTask } from "./_rules.ts";
import { RunnerRules } from "./_runner_rules.ts";
import type { MujocoOptions } from "./mujoco_options.ts";

/** Options of HalfCheetah. */
export interface HalfCheetahOptions extends MujocoOptions {
  /**
   * What the speed along `x` in metres a second is multiplied by.
   *
   * @default 1
   */
  forwardRewardWeight?: number;
  /**
   * What the sum of squared actions is multiplied by and costs.
   *
   * @default 0.1
   */
  ctrlCostWeight?: number;
  /**
   * How far the first positions lie from the model's at most, and the standard
   * deviation of the first velocities.
   *
   * @default 0.1
   */
  resetNoiseScale?: number;
  /**
   * Whether observations leave out the position along `x`.
   *
   * @default true
   */
  excludeCurrentPositionsFromObservation?: boolean;
}

/** A planar runner of two legs that is to run forward. */
export const HALF_CHEETAH: MujocoTask<HalfCheetahOptions> = {
  name: "HalfCheetah",
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
    new RunnerRules(model, options, { axes: 1, velocities: normalVelocities }),
};
