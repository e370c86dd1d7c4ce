import type { SeededRandom } from "../random.ts";
import { scatterPositions } from "./_begin.ts";
import { append } from "./_observe.ts";
import type { PhysicsData, PhysicsModel } from "./_physics.ts";
import type {
  ActionRow,
  MujocoInfo,
  MujocoRules,
  ObservationRow,
  Outcome,
} from "./_rules.ts";
import { actionCost } from "./_sums.ts";
import { whereabouts } from "./_whereabouts.ts";

/** What runners have as options. */
export interface RunnerOptions {
  readonly forwardRewardWeight: number;
  readonly ctrlCostWeight: number;
  readonly resetNoiseScale: number;
  readonly excludeCurrentPositionsFromObservation: boolean;
}

/** What runners differ in. */
export interface Gait {
  /** Along how many axes they move freely: `x`, or `x` and `y`. */
  readonly axes: 1 | 2;
  /** Draws the velocities of an episode's beginning. */
  velocities(data: PhysicsData, random: SeededRandom, scale: number): void;
}

/** Bodies that are rewarded for their speed along `x` and cannot fall. */
export class RunnerRules implements MujocoRules {
  readonly observationSize: number;
  readonly usesContactForces = false;

  #model: PhysicsModel;
  #options: RunnerOptions;
  #gait: Gait;
  #skipped: number;
  #forward = 0;
  #cost = 0;
  #outcome: Outcome = { reward: 0, terminated: false };

  constructor(model: PhysicsModel, options: RunnerOptions, gait: Gait) {
    const { nq, nv } = model.sizes;
    this.#model = model;
    this.#options = options;
    this.#gait = gait;
    this.#skipped = options.excludeCurrentPositionsFromObservation
      ? gait.axes
      : 0;
    this.observationSize = nq + nv - this.#skipped;
  }

  begin(data: PhysicsData, random: SeededRandom): void {
    const { resetNoiseScale } = this.#options;
    scatterPositions(data, this.#model.qpos0, random, resetNoiseScale);
    this.#gait.velocities(data, random, resetNoiseScale);
  }

  locate({ qpos }: PhysicsData, place: Float64Array): void {
    for (let axis = 0; axis < this.#gait.axes; axis++) place[axis] = qpos[axis];
  }

  observe({ qpos, qvel }: PhysicsData, row: ObservationRow): void {
    append(row, qpos, this.#skipped);
    append(row, qvel);
  }

  judge(
    _data: PhysicsData,
    velocity: Float64Array,
    action: ActionRow,
  ): Outcome {
    const { forwardRewardWeight, ctrlCostWeight } = this.#options;
    this.#forward = forwardRewardWeight * velocity[0];
    this.#cost = actionCost(ctrlCostWeight, action, this.#model.sizes.nu);
    this.#outcome.reward = this.#forward - this.#cost;
    return this.#outcome;
  }

  info({ qpos }: PhysicsData, velocity: Float64Array): MujocoInfo {
    const where = this.#gait.axes === 2
      ? whereabouts(qpos, velocity)
      : { x_position: qpos[0], x_velocity: velocity[0] };
    return {
      ...where,
      reward_forward: this.#forward,
      reward_ctrl: -this.#cost,
    };
  }
}
