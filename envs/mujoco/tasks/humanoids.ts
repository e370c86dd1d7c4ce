/** Humanoid and HumanoidStandup: human figures of one model. */
import type { PhysicsData, PhysicsModel } from "../physics/_physics.ts";
import { sumOf, sumOfSquares } from "./_numpy_sums.ts";
import {
  type MujocoInfo,
  type Outcome,
  type Range,
  type Resolved,
  StateRules,
  type TaskKind,
  VELOCITIES,
} from "./_rules.ts";
import type { MujocoOptions } from "./mujoco_options.ts";
import { RunnerRules, type WalkerOptions } from "./runners.ts";

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

/** Parts that each option shows; the world, and the root that nothing turns, come first. */
const VIEWS = [
  ["includeCinertInObservation", { array: "cinert", from: 10 }],
  ["includeCvelInObservation", { array: "cvel", from: 6 }],
  ["includeQfrcActuatorInObservation", { array: "qfrcActuator", from: 6 }],
  ["includeCfrcExtInObservation", { array: "cfrcExt", from: 6 }],
] as const;

function formOf(options: Readonly<typeof FULL_VIEW>) {
  const shown = VIEWS.filter(([option]) => options[option]);
  return { axes: 2, views: [VELOCITIES, ...shown.map(([, view]) => view)] };
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

/** Cost of the contacts' forces, within its range. */
function contactCost(
  { cfrcExt }: PhysicsData,
  weight: number,
  [least, most]: Range,
): number {
  return Math.min(Math.max(weight * sumOfSquares(cfrcExt), least), most);
}

class HumanoidRules extends RunnerRules<Resolved<HumanoidOptions>> {
  override readonly usesContactForces: boolean;
  #mass: number;

  constructor(model: PhysicsModel, options: Resolved<HumanoidOptions>) {
    super(model, options, formOf(options));
    this.usesContactForces = options.contactCostWeight !== 0 ||
      options.includeCfrcExtInObservation;
    this.#mass = sumOf(model.bodyMass);
  }

  /** Writes the centre of mass. */
  override locate({ xipos }: PhysicsData, place: Float64Array): void {
    const masses = this.model.bodyMass;
    let x = 0, y = 0;
    for (let i = 0; i < masses.length; i++) {
      x += masses[i] * xipos[3 * i];
      y += masses[i] * xipos[3 * i + 1];
    }
    place[0] = x / this.#mass;
    place[1] = y / this.#mass;
  }

  protected override isHealthy({ qpos }: PhysicsData): boolean {
    const [low, high] = this.options.healthyZRange;
    return low < qpos[2] && qpos[2] < high;
  }

  protected override controlCost({ ctrl }: PhysicsData): number {
    return this.options.ctrlCostWeight * sumOfSquares(ctrl);
  }

  protected override contactCost(data: PhysicsData): number {
    const { contactCostWeight, contactCostRange } = this.options;
    return contactCost(data, contactCostWeight, contactCostRange);
  }

  override info(data: PhysicsData, velocity: Float64Array): MujocoInfo {
    return { ...super.info(data, velocity), ...tendonsOf(data) };
  }
}

function tendonsOf({ tendonLength, tendonVelocity }: PhysicsData): MujocoInfo {
  return {
    tendon_length: tendonLength.slice(),
    tendon_velocity: tendonVelocity.slice(),
  };
}

/** A human figure that is to walk forward. */
export const HUMANOID: TaskKind<HumanoidOptions> = {
  defaults: {
    xmlFile: "humanoid.xml",
    frameSkip: 5,
    defaultCameraConfig: { trackBodyId: 1, distance: 4, lookAt: [0, 0, 1] },
    forwardRewardWeight: 1.25,
    ctrlCostWeight: 0.1,
    contactCostWeight: 5e-7,
    contactCostRange: [-Infinity, 10],
    healthyReward: 5,
    terminateWhenUnhealthy: true,
    healthyZRange: [1, 2],
    resetNoiseScale: 0.01,
    ...FULL_VIEW,
  },
  rules: (model, options) => new HumanoidRules(model, options),
};

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

class StandupRules extends StateRules<Resolved<HumanoidStandupOptions>> {
  override readonly usesContactForces: boolean;
  #height = 0;
  #cost = 0;
  #impact = 0;

  constructor(model: PhysicsModel, options: Resolved<HumanoidStandupOptions>) {
    super(model, options, formOf(options));
    this.usesContactForces = options.impactCostWeight !== 0 ||
      options.includeCfrcExtInObservation;
  }

  evaluate(data: PhysicsData): Outcome {
    const { qpos, ctrl } = data, options = this.options;
    const { impactCostWeight, impactCostRange } = options;
    this.#height = options.uphCostWeight * (qpos[2] / this.model.timestep);
    this.#cost = options.ctrlCostWeight * sumOfSquares(ctrl);
    this.#impact = contactCost(data, impactCostWeight, impactCostRange);
    this.outcome.reward = this.#height - this.#cost - this.#impact + 1;
    return this.outcome;
  }

  info(data: PhysicsData): MujocoInfo {
    const { qpos } = data;
    return {
      x_position: qpos[0],
      y_position: qpos[1],
      z_distance_from_origin: qpos[2] - this.model.qpos0[2],
      ...tendonsOf(data),
      reward_linup: this.#height,
      reward_quadctrl: -this.#cost,
      reward_impact: -this.#impact,
    };
  }
}

/** A human figure on its back that is to stand up. */
export const HUMANOID_STANDUP: TaskKind<HumanoidStandupOptions> = {
  defaults: {
    xmlFile: "humanoidstandup.xml",
    frameSkip: 5,
    defaultCameraConfig: {
      trackBodyId: 1,
      distance: 4,
      lookAt: [0, 0, 0.8925],
    },
    uphCostWeight: 1,
    ctrlCostWeight: 0.1,
    impactCostWeight: 5e-7,
    impactCostRange: [-Infinity, 10],
    resetNoiseScale: 0.01,
    ...FULL_VIEW,
  },
  rules: (model, options) => new StandupRules(model, options),
};
