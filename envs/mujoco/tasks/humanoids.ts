/** Humanoid and HumanoidStandup: human figures of one model. */
import type { MujocoState } from "../physics/_physics.ts";
import { sumOf, sumOfSquares } from "./_numpy_sums.ts";
import type { MujocoOptions } from "./mujoco_options.ts";
import {
  type MujocoStep,
  type MujocoTask,
  mujocoTask,
  type OwnValues,
} from "./mujoco_task.ts";
import {
  type Range,
  runner,
  seenPositions,
  type WalkerOptions,
} from "./runners.ts";

/** Options of what Humanoid and HumanoidStandup observe. */
export interface HumanoidViewOptions extends MujocoOptions {
  /**
   * True where observations leave out the positions along `x` and `y`.
   *
   * @default true
   */
  excludeCurrentPositionsFromObservation?: boolean;
  /**
   * True where observations hold the bodies' masses and inertias.
   *
   * @default true
   */
  includeCinertInObservation?: boolean;
  /**
   * True where observations hold the bodies' velocities.
   *
   * @default true
   */
  includeCvelInObservation?: boolean;
  /**
   * True where observations hold the forces of the actuators.
   *
   * @default true
   */
  includeQfrcActuatorInObservation?: boolean;
  /**
   * True where observations hold the forces of contacts.
   *
   * @default true
   */
  includeCfrcExtInObservation?: boolean;
}

/** Everything that humanoids can observe. */
const FULL_VIEW = {
  excludeCurrentPositionsFromObservation: true,
  includeCinertInObservation: true,
  includeCvelInObservation: true,
  includeQfrcActuatorInObservation: true,
  includeCfrcExtInObservation: true,
};

/** Returns what is observed; the world, and the root that nothing turns, come first. */
function seen(
  state: MujocoState,
  { options }: { readonly options: Readonly<typeof FULL_VIEW> },
): Float64Array[] {
  const { cinert, cvel, qfrcActuator, cfrcExt } = state;
  const parts: [isSeen: boolean, part: Float64Array][] = [
    [options.includeCinertInObservation, cinert.subarray(10)],
    [options.includeCvelInObservation, cvel.subarray(6)],
    [options.includeQfrcActuatorInObservation, qfrcActuator.subarray(6)],
    [options.includeCfrcExtInObservation, cfrcExt.subarray(6)],
  ];
  const shown = parts.filter(([isSeen]) => isSeen).map(([, part]) => part);
  return [seenPositions(state, options, 2), state.qvel, ...shown];
}

/**
 * Options of Humanoid; `forwardRewardWeight` is 1.25, `healthyReward` 5 and
 * `resetNoiseScale` 0.01 by default.
 */
export interface HumanoidOptions extends HumanoidViewOptions, WalkerOptions {
  /**
   * Weight of the contact cost, the sum of squared contact forces.
   *
   * @default 5e-7
   */
  contactCostWeight?: number;
  /**
   * Range that the contact cost is clipped to.
   *
   * @default [-Infinity, 10]
   */
  contactCostRange?: readonly [low: number, high: number];
  /**
   * Heights of the body in metres at which it is healthy.
   *
   * @default [1, 2]
   */
  healthyZRange?: readonly [low: number, high: number];
}

/** Returns the cost of the contacts' forces, within its range. */
function costOfContacts(
  { cfrcExt }: MujocoState,
  weight: number,
  [least, most]: Range,
): number {
  return Math.min(Math.max(weight * sumOfSquares(cfrcExt), least), most);
}

function tendonsOf({ tendonLength, tendonVelocity }: MujocoState) {
  return {
    tendon_length: tendonLength.slice(),
    tendon_velocity: tendonVelocity.slice(),
  };
}

/** A human figure that is to walk forward. */
export const HUMANOID: MujocoTask = runner<OwnValues<HumanoidOptions>>({
  name: "Humanoid",
  xml: "humanoid.xml",
  frameSkip: 5,
  camera: { trackBodyId: 1, distance: 4, lookAt: [0, 0, 1] },
  resetNoiseScale: 0.01,
  options: {
    forwardRewardWeight: 1.25,
    ctrlCostWeight: 0.1,
    contactCostWeight: 5e-7,
    contactCostRange: [-Infinity, 10],
    healthyReward: 5,
    terminateWhenUnhealthy: true,
    healthyZRange: [1, 2],
    ...FULL_VIEW,
  },
  axes: 2,
  usesContactForces: (options) =>
    options.contactCostWeight !== 0 || options.includeCfrcExtInObservation,
  /** Returns the centre of mass. */
  place({ xipos }, { model: { bodyMass: masses } }) {
    let x = 0, y = 0;
    for (let i = 0; i < masses.length; i++) {
      x += masses[i] * xipos[3 * i];
      y += masses[i] * xipos[3 * i + 1];
    }
    const mass = sumOf(masses);
    return [x / mass, y / mass];
  },
  observe: seen,
  isHealthy: ({ qpos }, { options: { healthyZRange: [low, high] } }) =>
    low < qpos[2] && qpos[2] < high,
  controlCost: ({ ctrl }, { options }) =>
    options.ctrlCostWeight * sumOfSquares(ctrl),
  contactCost: (state, { options: { contactCostWeight, contactCostRange } }) =>
    costOfContacts(state, contactCostWeight, contactCostRange),
  info: tendonsOf,
});

/** Options of HumanoidStandup. */
export interface HumanoidStandupOptions extends HumanoidViewOptions {
  /**
   * Weight of the height, divided by the seconds of a step of the simulation.
   * Gymnasium documents it but leaves it out of its reward.
   *
   * @default 1
   */
  uphCostWeight?: number;
  /**
   * Weight of the control cost, the sum of squared controls.
   *
   * @default 0.1
   */
  ctrlCostWeight?: number;
  /**
   * Weight of the contact cost, the sum of squared contact forces.
   *
   * @default 5e-7
   */
  impactCostWeight?: number;
  /**
   * Range that the contact cost is clipped to.
   *
   * @default [-Infinity, 10]
   */
  impactCostRange?: readonly [low: number, high: number];
  /**
   * Largest distance of initial positions and velocities from the model's.
   *
   * @default 0.01
   */
  resetNoiseScale?: number;
}

type StandupValues = OwnValues<HumanoidStandupOptions>;

/** Returns the parts of the reward, to which 1 is added. */
function standupParts(
  state: MujocoState,
  { model, options }: MujocoStep<StandupValues>,
) {
  const { qpos, ctrl } = state, { impactCostWeight, impactCostRange } = options;
  return {
    reward_linup: options.uphCostWeight * (qpos[2] / model.timestep),
    reward_quadctrl: -options.ctrlCostWeight * sumOfSquares(ctrl),
    reward_impact: -costOfContacts(state, impactCostWeight, impactCostRange),
  };
}

/** A human figure on its back that is to stand up. */
export const HUMANOID_STANDUP: MujocoTask = mujocoTask<StandupValues>({
  name: "HumanoidStandup",
  xml: "humanoidstandup.xml",
  frameSkip: 5,
  camera: { trackBodyId: 1, distance: 4, lookAt: [0, 0, 0.8925] },
  resetNoiseScale: 0.01,
  options: {
    uphCostWeight: 1,
    ctrlCostWeight: 0.1,
    impactCostWeight: 5e-7,
    impactCostRange: [-Infinity, 10],
    ...FULL_VIEW,
  },
  usesContactForces: (options) =>
    options.impactCostWeight !== 0 || options.includeCfrcExtInObservation,
  observe: seen,
  reward(state, step) {
    const parts = standupParts(state, step);
    return parts.reward_linup + parts.reward_quadctrl + parts.reward_impact + 1;
  },
  info: (state, step) => ({
    x_position: state.qpos[0],
    y_position: state.qpos[1],
    z_distance_from_origin: state.qpos[2] - step.model.qpos0[2],
    ...tendonsOf(state),
    ...standupParts(state, step),
  }),
});
