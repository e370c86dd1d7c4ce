import type { SeededRandom } from "../random.ts";
import { scatterPositions, scatterVelocities } from "./_begin.ts";
import {
  FULL_VIEW,
  humanoidObservationSize,
  observeHumanoid,
} from "./_humanoid_view.ts";
import type { PhysicsData, PhysicsModel } from "./_physics.ts";
import type {
  MujocoInfo,
  MujocoRules,
  MujocoTask,
  ObservationRow,
  Outcome,
  Resolved,
} from "./_rules.ts";
import { sumOf, sumOfSquares } from "./_sums.ts";
import type { HumanoidViewOptions } from "./humanoid_view_options.ts";

/** Options of Humanoid. */
export interface HumanoidOptions extends HumanoidViewOptions {
  /**
   * What the speed along `x` in metres a second is multiplied by.
   *
   * @default 1.25
   */
  forwardRewardWeight?: number;
  /**
   * What the sum of squared controls is multiplied by and costs.
   *
   * @default 0.1
   */
  ctrlCostWeight?: number;
  /**
   * What the sum of squared contact forces is multiplied by and costs.
   *
   * @default 5e-7
   */
  contactCostWeight?: number;
  /**
   * What the cost of contacts is limited to.
   *
   * @default [-Infinity, 10]
   */
  contactCostRange?: readonly [low: number, high: number];
  /**
   * The reward of each step that ends healthy.
   *
   * @default 5
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
   * @default [1, 2]
   */
  healthyZRange?: readonly [low: number, high: number];
  /**
   * How far the first positions and velocities lie from the model's at most.
   *
   * @default 0.01
   */
  resetNoiseScale?: number;
}

class HumanoidRules implements MujocoRules {
  readonly observationSize: number;
  readonly usesContactForces: boolean;

  #model: PhysicsModel;
  #options: Resolved<HumanoidOptions>;
  #mass: number;
  #forward = 0;
  #cost = 0;
  #contact = 0;
  #survival = 0;
  #outcome: Outcome = { reward: 0, terminated: false };

  constructor(model: PhysicsModel, options: Resolved<HumanoidOptions>) {
    this.#model = model;
    this.#options = options;
    this.usesContactForces = options.contactCostWeight !== 0 ||
      options.includeCfrcExtInObservation;
    this.#mass = sumOf(model.bodyMass);
    this.observationSize = humanoidObservationSize(model.sizes, options);
  }

  begin(data: PhysicsData, random: SeededRandom): void {
    const { resetNoiseScale } = this.#options;
    scatterPositions(data, this.#model.qpos0, random, resetNoiseScale);
    scatterVelocities(data, random, resetNoiseScale);
  }

  /** The centre of mass. */
  locate({ xipos }: PhysicsData, place: Float64Array): void {
    const masses = this.#model.bodyMass;
    let x = 0, y = 0;
    for (let i = 0; i < masses.length; i++) {
      x += masses[i] * xipos[3 * i];
      y += masses[i] * xipos[3 * i + 1];
    }
    place[0] = x / this.#mass;
    place[1] = y / this.#mass;
  }

  observe(data: PhysicsData, row: ObservationRow): void {
    observeHumanoid(data, this.#options, row);
  }

  judge(data: PhysicsData, velocity: Float64Array): Outcome {
    const options = this.#options, outcome = this.#outcome;
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
export const HUMANOID: MujocoTask<HumanoidOptions> = {
  name: "Humanoid",
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
