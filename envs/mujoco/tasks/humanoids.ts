/** Humanoid and HumanoidStandup: human figures of one model. */
import type { PhysicsData, PhysicsModel } from "../physics/_physics.ts";
import { sumOf, sumOfSquares } from "./_numpy_sums.ts";
import {
  append,
  type MujocoInfo,
  type ObservationRow,
  type Outcome,
  type Resolved,
  StateRules,
  type TaskKind,
} from "./_rules.ts";
import type { MujocoOptions } from "./mujoco_options.ts";

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

/** Numbers of the world in each array; they are not observed. */
const WORLD = { cinert: 10, cvel: 6, cfrcExt: 6 };
/** The root moves freely: no actuator turns it. */
const ROOT_DOFS = 6;

/** Observations and initial states of humanoids. */
abstract class HumanoidRules<
  O extends Readonly<typeof FULL_VIEW> & { readonly resetNoiseScale: number },
> extends StateRules<O> {
  override readonly usesContactForces: boolean;

  constructor(model: PhysicsModel, options: O, contactWeight: number) {
    const { nv, nbody } = model.sizes;
    const extra = (options.includeCinertInObservation ? 10 * (nbody - 1) : 0) +
      (options.includeCvelInObservation ? 6 * (nbody - 1) : 0) +
      (options.includeQfrcActuatorInObservation ? nv - ROOT_DOFS : 0) +
      (options.includeCfrcExtInObservation ? 6 * (nbody - 1) : 0);
    super(model, options, { axes: 2, extra });
    this.usesContactForces = contactWeight !== 0 ||
      options.includeCfrcExtInObservation;
  }

  override observe(data: PhysicsData, row: ObservationRow): void {
    const view = this.options;
    super.observe(data, row);
    if (view.includeCinertInObservation) append(row, data.cinert, WORLD.cinert);
    if (view.includeCvelInObservation) append(row, data.cvel, WORLD.cvel);
    if (view.includeQfrcActuatorInObservation) {
      append(row, data.qfrcActuator, ROOT_DOFS);
    }
    if (view.includeCfrcExtInObservation) {
      append(row, data.cfrcExt, WORLD.cfrcExt);
    }
  }
}

/** Options of Humanoid. */
export interface HumanoidOptions extends HumanoidViewOptions {
  /**
   * Weight of the speed along `x`, in metres a second.
   *
   * @default 1.25
   */
  forwardRewardWeight?: number;
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
  contactCostWeight?: number;
  /**
   * Range that the contact cost is clipped to.
   *
   * @default [-Infinity, 10]
   */
  contactCostRange?: readonly [low: number, high: number];
  /**
   * Reward of each step that ends healthy.
   *
   * @default 5
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
   * @default [1, 2]
   */
  healthyZRange?: readonly [low: number, high: number];
  /**
   * Largest distance of initial positions and velocities from the model's.
   *
   * @default 0.01
   */
  resetNoiseScale?: number;
}

class WalkRules extends HumanoidRules<Resolved<HumanoidOptions>> {
  #mass: number;
  #forward = 0;
  #cost = 0;
  #contact = 0;
  #survival = 0;

  constructor(model: PhysicsModel, options: Resolved<HumanoidOptions>) {
    super(model, options, options.contactCostWeight);
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

  evaluate(data: PhysicsData, velocity: Float64Array): Outcome {
    const options = this.options, outcome = this.outcome;
    const [low, high] = options.healthyZRange;
    const isHealthy = low < data.qpos[2] && data.qpos[2] < high;
    this.#forward = options.forwardRewardWeight * velocity[0];
    this.#survival = isHealthy ? options.healthyReward : 0;
    this.#cost = options.ctrlCostWeight * sumOfSquares(data.ctrl);
    const [least, most] = options.contactCostRange;
    const contact = options.contactCostWeight * sumOfSquares(data.cfrcExt);
    this.#contact = Math.min(Math.max(contact, least), most);
    outcome.reward = this.#forward + this.#survival -
      (this.#cost + this.#contact);
    outcome.terminated = !isHealthy && options.terminateWhenUnhealthy;
    return outcome;
  }

  info(data: PhysicsData, velocity: Float64Array): MujocoInfo {
    const { qpos } = data;
    return {
      x_position: qpos[0],
      y_position: qpos[1],
      tendon_length: data.tendonLength.slice(),
      tendon_velocity: data.tendonVelocity.slice(),
      distance_from_origin: Math.hypot(qpos[0], qpos[1]),
      x_velocity: velocity[0],
      y_velocity: velocity[1],
      reward_survive: this.#survival,
      reward_forward: this.#forward,
      reward_ctrl: -this.#cost,
      reward_contact: -this.#contact,
    };
  }
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
  rules: (model, options) => new WalkRules(model, options),
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

class StandupRules extends HumanoidRules<Resolved<HumanoidStandupOptions>> {
  #height = 0;
  #cost = 0;
  #impact = 0;

  constructor(model: PhysicsModel, options: Resolved<HumanoidStandupOptions>) {
    super(model, options, options.impactCostWeight);
  }

  evaluate({ qpos, ctrl, cfrcExt }: PhysicsData): Outcome {
    const options = this.options;
    const [least, most] = options.impactCostRange;
    const impact = options.impactCostWeight * sumOfSquares(cfrcExt);
    this.#height = options.uphCostWeight * (qpos[2] / this.model.timestep);
    this.#cost = options.ctrlCostWeight * sumOfSquares(ctrl);
    this.#impact = Math.min(Math.max(impact, least), most);
    this.outcome.reward = this.#height - this.#cost - this.#impact + 1;
    return this.outcome;
  }

  info(data: PhysicsData): MujocoInfo {
    const { qpos } = data;
    return {
      x_position: qpos[0],
      y_position: qpos[1],
      z_distance_from_origin: qpos[2] - this.model.qpos0[2],
      tendon_length: data.tendonLength.slice(),
      tendon_velocity: data.tendonVelocity.slice(),
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
