import type { SeededRandom } from "../random.ts";
import { normalVelocities, scatterPositions } from "./_begin.ts";
import { append, appendClipped } from "./_observe.ts";
import type { PhysicsData, PhysicsModel } from "./_physics.ts";
import type {
  ActionRow,
  MujocoInfo,
  MujocoRules,
  MujocoTask,
  ObservationRow,
  Outcome,
  Resolved,
} from "./_rules.ts";
import { actionCost, sumOfSquares } from "./_sums.ts";
import { whereabouts } from "./_whereabouts.ts";
import type { MujocoOptions } from "./mujoco_options.ts";

/** Options of Ant. */
export interface AntOptions extends MujocoOptions {
  /**
   * What the speed along `x` in metres a second is multiplied by.
   *
   * @default 1
   */
  forwardRewardWeight?: number;
  /**
   * What the sum of squared actions is multiplied by and costs.
   *
   * @default 0.5
   */
  ctrlCostWeight?: number;
  /**
   * What the sum of squared contact forces is multiplied by and costs.
   *
   * @default 0.0005
   */
  contactCostWeight?: number;
  /**
   * The reward of each step that ends healthy.
   *
   * @default 1
   */
  healthyReward?: number;
  /**
   * The body whose speed is rewarded, by its number or name.
   *
   * @default 1
   */
  mainBody?: number | string;
  /**
   * Whether an episode ends when the body is unhealthy.
   *
   * @default true
   */
  terminateWhenUnhealthy?: boolean;
  /**
   * Heights of the body in metres at which it is healthy.
   *
   * @default [0.2, 1]
   */
  healthyZRange?: readonly [low: number, high: number];
  /**
   * What contact forces are limited to.
   *
   * @default [-1, 1]
   */
  contactForceRange?: readonly [low: number, high: number];
  /**
   * How far the first positions lie from the model's at most, and the standard
   * deviation of the first velocities.
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
  /**
   * Whether observations hold the forces of contacts.
   *
   * @default true
   */
  includeCfrcExtInObservation?: boolean;
}

/** Forces are seen of all bodies but the world, six numbers of each. */
const WORLD_FORCES = 6;

function areFinite(values: Float64Array): boolean {
  for (let i = 0; i < values.length; i++) {
    if (!Number.isFinite(values[i])) return false;
  }
  return true;
}

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

class AntRules implements MujocoRules {
  readonly observationSize: number;
  readonly usesContactForces: boolean;

  #model: PhysicsModel;
  #options: Resolved<AntOptions>;
  #skipped: number;
  #body: number;
  #forward = 0;
  #cost = 0;
  #contact = 0;
  #survival = 0;
  #outcome: Outcome = { reward: 0, terminated: false };

  constructor(model: PhysicsModel, options: Resolved<AntOptions>) {
    const { nq, nv, nbody } = model.sizes;
    this.#model = model;
    this.#options = options;
    this.usesContactForces = options.contactCostWeight !== 0 ||
      options.includeCfrcExtInObservation;
    this.#skipped = options.excludeCurrentPositionsFromObservation ? 2 : 0;
    this.#body = bodyOf(model, options.mainBody);
    const forces = options.includeCfrcExtInObservation ? 6 * (nbody - 1) : 0;
    this.observationSize = nq + nv - this.#skipped + forces;
  }

  begin(data: PhysicsData, random: SeededRandom): void {
    const { resetNoiseScale } = this.#options;
    scatterPositions(data, this.#model.qpos0, random, resetNoiseScale);
    normalVelocities(data, random, resetNoiseScale);
  }

  locate({ xpos }: PhysicsData, place: Float64Array): void {
    place[0] = xpos[3 * this.#body];
    place[1] = xpos[3 * this.#body + 1];
  }

  observe({ qpos, qvel, cfrcExt }: PhysicsData, row: ObservationRow): void {
    const { includeCfrcExtInObservation, contactForceRange } = this.#options;
    append(row, qpos, this.#skipped);
    append(row, qvel);
    if (!includeCfrcExtInObservation) return;
    appendClipped(row, cfrcExt, contactForceRange, WORLD_FORCES);
  }

  #isHealthy({ qpos, qvel }: PhysicsData): boolean {
    const [low, high] = this.#options.healthyZRange;
    return areFinite(qpos) && areFinite(qvel) && low <= qpos[2] &&
      qpos[2] <= high;
  }

  judge(data: PhysicsData, velocity: Float64Array, action: ActionRow): Outcome {
    const options = this.#options, outcome = this.#outcome;
    const [low, high] = options.contactForceRange;
    const isHealthy = this.#isHealthy(data);
    this.#forward = velocity[0] * options.forwardRewardWeight;
    this.#survival = isHealthy ? options.healthyReward : 0;
    this.#cost = actionCost(
      options.ctrlCostWeight,
      action,
      this.#model.sizes.nu,
    );
    this.#contact = options.contactCostWeight *
      sumOfSquares(data.cfrcExt, low, high);
    outcome.reward = this.#forward + this.#survival -
      (this.#cost + this.#contact);
    outcome.terminated = !isHealthy && options.terminateWhenUnhealthy;
    return outcome;
  }

  info({ qpos }: PhysicsData, velocity: Float64Array): MujocoInfo {
    return {
      ...whereabouts(qpos, velocity),
      reward_forward: this.#forward,
      reward_ctrl: -this.#cost,
      reward_contact: -this.#contact,
      reward_survive: this.#survival,
    };
  }
}

/** A body on four legs that is to run forward. */
export const ANT: MujocoTask<AntOptions> = {
  name: "Ant",
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
