import type { SeededRandom } from "../random.ts";
import { scatterPositions, scatterVelocities } from "./_begin.ts";
import { append, appendClipped } from "./_observe.ts";
import type { PhysicsData, PhysicsModel } from "./_physics.ts";
import type {
  ActionRow,
  MujocoInfo,
  MujocoRules,
  ObservationRow,
  Outcome,
} from "./_rules.ts";
import { actionCost } from "./_sums.ts";

type Range = readonly [low: number, high: number];

/** What planar walkers differ in. */
export interface BipedOptions {
  readonly forwardRewardWeight: number;
  readonly ctrlCostWeight: number;
  readonly healthyReward: number;
  readonly terminateWhenUnhealthy: boolean;
  readonly healthyZRange: Range;
  readonly healthyAngleRange: Range;
  /** Of all positions and velocities but `x` and `z`. */
  readonly healthyStateRange?: Range;
  readonly resetNoiseScale: number;
  readonly excludeCurrentPositionsFromObservation: boolean;
}

/** Speeds beyond are seen as these. */
const SEEN_SPEEDS: Range = [-10, 10];

function isWithin(value: number, [low, high]: Range): boolean {
  return low < value && value < high;
}

function areWithin(values: Float64Array, from: number, range: Range): boolean {
  for (let i = from; i < values.length; i++) {
    if (!isWithin(values[i], range)) return false;
  }
  return true;
}

/** Planar walkers that are rewarded for speed and for not falling. */
export class BipedRules implements MujocoRules {
  readonly observationSize: number;
  readonly usesContactForces = false;

  #model: PhysicsModel;
  #options: BipedOptions;
  #skipped: number;
  #forward = 0;
  #cost = 0;
  #survival = 0;
  #outcome: Outcome = { reward: 0, terminated: false };

  constructor(model: PhysicsModel, options: BipedOptions) {
    const { nq, nv } = model.sizes;
    this.#model = model;
    this.#options = options;
    this.#skipped = options.excludeCurrentPositionsFromObservation ? 1 : 0;
    this.observationSize = nq + nv - this.#skipped;
  }

  begin(data: PhysicsData, random: SeededRandom): void {
    const { resetNoiseScale } = this.#options;
    scatterPositions(data, this.#model.qpos0, random, resetNoiseScale);
    scatterVelocities(data, random, resetNoiseScale);
  }

  locate({ qpos }: PhysicsData, place: Float64Array): void {
    place[0] = qpos[0];
  }

  observe({ qpos, qvel }: PhysicsData, row: ObservationRow): void {
    append(row, qpos, this.#skipped);
    appendClipped(row, qvel, SEEN_SPEEDS);
  }

  #isHealthy({ qpos, qvel }: PhysicsData): boolean {
    const { healthyZRange, healthyAngleRange, healthyStateRange } =
      this.#options;
    return isWithin(qpos[1], healthyZRange) &&
      isWithin(qpos[2], healthyAngleRange) &&
      (healthyStateRange === undefined ||
        areWithin(qpos, 2, healthyStateRange) &&
          areWithin(qvel, 0, healthyStateRange));
  }

  judge(data: PhysicsData, velocity: Float64Array, action: ActionRow): Outcome {
    const options = this.#options, outcome = this.#outcome;
    const isHealthy = this.#isHealthy(data);
    this.#forward = options.forwardRewardWeight * velocity[0];
    this.#survival = isHealthy ? options.healthyReward : 0;
    this.#cost = actionCost(
      options.ctrlCostWeight,
      action,
      this.#model.sizes.nu,
    );
    outcome.reward = this.#forward + this.#survival - this.#cost;
    outcome.terminated = !isHealthy && options.terminateWhenUnhealthy;
    return outcome;
  }

  info({ qpos }: PhysicsData, velocity: Float64Array): MujocoInfo {
    return {
      x_position: qpos[0],
      z_distance_from_origin: qpos[1] - this.#model.qpos0[1],
      x_velocity: velocity[0],
      reward_forward: this.#forward,
      reward_ctrl: -this.#cost,
      reward_survive: this.#survival,
    };
  }
}
