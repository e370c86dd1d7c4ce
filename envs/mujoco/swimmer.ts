import { scatterVelocities } from "./_begin.ts";
import type { MujocoTask } from "./_rules.ts";
import { RunnerRules } from "./_runner_rules.ts";
import type { MujocoOptions } from "./mujoco_options.ts";

/** Options of Swimmer. */
export interface SwimmerOptions extends MujocoOptions {
  /**
   * What the speed along `x` in metres a second is multiplied by.
   *
   * @default 1
   */
  forwardRewardWeight?: number;
  /**
   * What the sum of squared actions is multiplied by and costs.
   *
   * @default 0.0001
   */
  ctrlCostWeight?: number;
  /**
   * How far the first positions and velocities lie from the model's at most.
   *
   * @default 0.1
   */
  resetNoiseScale?: number;
  /**
   * Whether observations leave out the positions along `x` and `y`.
   *
   * @default true
   */
  excludeCurrentPositionsFromObservation?: boolean;
}

/** A chain of three links in a fluid that is to swim forward. */
export const SWIMMER: MujocoTask<SwimmerOptions> = {
  name: "Swimmer",
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
    new RunnerRules(model, options, { axes: 2, velocities: scatterVelocities }),
};
