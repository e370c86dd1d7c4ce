import {
  type ActionRow,
  appendClipped,
  drawNormalState,
  type MujocoInfo,
  type MujocoTask,
  type ObservationRow,
  type Outcome,
  planarPosition,
  type Resolved,
  StateRules,
} from "./_rules.ts";
import type { PhysicsData, PhysicsModel } from "../physics/_physics.ts";
import { actionCost, sumOfSquares } from "./_numpy_sums.ts";
import type { MujocoOptions } from "./mujoco_options.ts";

/** Options of Ant. */
export interface AntOptions extends MujocoOptions {
  /**
   * Weight of the speed along `x`, in metres a second.
   *
   * @default 1
   */
  forwardRewardWeight?: number;
  /**
   * Weight of the control cost, the sum of squared actions.
   *
   * @default 0.5
   */
  ctrlCostWeight?: number;
  /**
   * Weight of the contact cost, the sum of squared contact forces.
   *
   * @default 0.0005
   */
  contactCostWeight?: number;
  /**
   * Reward of each step that ends healthy.
   *
   * @default 1
   */
  healthyReward?: number;
  /**
   * Body whose speed is rewarded, by its number or name.
   *
   * @default 1
   */
  mainBody?: number | string;
  /**
   * True where an episode ends when the body is unhealthy.
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
   * Range that contact forces are clipped to.
   *
   * @default [-1, 1]
   */
  contactForceRange?: readonly [low: number, high: number];
  /**
   * Largest distance of initial positions from the model's, and standard deviation
   * of initial velocities.
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
  /**
   * True where observations hold the forces of contacts.
   *
   * @default true
   */
  includeCfrcExtInObservation?: boolean;
}

/** Contact forces of the world, which is not observed. */
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

class AntRules extends StateRules<Resolved<AntOptions>> {
  override readonly usesContactForces: boolean;

  #body: number;
  #forward = 0;
  #cost = 0;
  #contact = 0;
  #survival = 0;

  constructor(model: PhysicsModel, options: Resolved<AntOptions>) {
    const { includeCfrcExtInObservation } = options;
    const extra = includeCfrcExtInObservation ? 6 * (model.sizes.nbody - 1) : 0;
    super(model, options, { axes: 2, extra, draw: drawNormalState });
    this.usesContactForces = options.contactCostWeight !== 0 ||
      includeCfrcExtInObservation;
    this.#body = bodyOf(model, options.mainBody);
  }

  override locate({ xpos }: PhysicsData, place: Float64Array): void {
    place[0] = xpos[3 * this.#body];
    place[1] = xpos[3 * this.#body + 1];
  }

  override observe(data: PhysicsData, row: ObservationRow): void {
    const { includeCfrcExtInObservation, contactForceRange } = this.options;
    super.observe(data, row);
    if (!includeCfrcExtInObservation) return;
    appendClipped(row, data.cfrcExt, contactForceRange, WORLD_FORCES);
  }

  #isHealthy({ qpos, qvel }: PhysicsData): boolean {
    const [low, high] = this.options.healthyZRange;
    return areFinite(qpos) && areFinite(qvel) && low <= qpos[2] &&
      qpos[2] <= high;
  }

  evaluate(
    data: PhysicsData,
    velocity: Float64Array,
    action: ActionRow,
  ): Outcome {
    const options = this.options, outcome = this.outcome;
    const [low, high] = options.contactForceRange;
    const isHealthy = this.#isHealthy(data), { nu } = this.model.sizes;
    this.#forward = velocity[0] * options.forwardRewardWeight;
    this.#survival = isHealthy ? options.healthyReward : 0;
    this.#cost = actionCost(options.ctrlCostWeight, action, nu);
    this.#contact = options.contactCostWeight *
      sumOfSquares(data.cfrcExt, low, high);
    outcome.reward = this.#forward + this.#survival -
      (this.#cost + this.#contact);
    outcome.terminated = !isHealthy && options.terminateWhenUnhealthy;
    return outcome;
  }

  info({ qpos }: PhysicsData, velocity: Float64Array): MujocoInfo {
    return {
      ...planarPosition(qpos, velocity),
      reward_forward: this.#forward,
      reward_ctrl: -this.#cost,
      reward_contact: -this.#contact,
      reward_survive: this.#survival,
    };
  }
}

/** A body on four legs that is to run forward. */
export const ANT: MujocoTask<AntOptions> = {
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
