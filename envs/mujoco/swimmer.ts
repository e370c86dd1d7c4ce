import type { SeededRandom } from "../random.ts";
import { scatterPositions, scatterVelocities } from "./_begin.ts";
import { append } from "./_observe.ts";
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
import { actionCost } from "./_sums.ts";
import type { MujocoOptions } from "./mujoco_options.ts";

/**
 * Options of Swimmer.
 *
 * @example
 * ```ts
 * import type { SwimmerOptions } from "@bellman/envs/mujoco";
 * import { assertEquals } from "@std/assert";
 *
 * const options: SwimmerOptions = { ctrlCostWeight: 0 };
 * assertEquals(options.ctrlCostWeight, 0);
 * ```
 */
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

class SwimmerRules implements MujocoRules {
  readonly observationSize: number;
  readonly usesContactForces = false;

  #model: PhysicsModel;
  #options: Resolved<SwimmerOptions>;
  #skipped: number;
  #forward = 0;
  #cost = 0;
  #outcome: Outcome = { reward: 0, terminated: false };

  constructor(model: PhysicsModel, options: Resolved<SwimmerOptions>) {
    const { nq, nv } = model.sizes;
    this.#model = model;
    this.#options = options;
    this.#skipped = options.excludeCurrentPositionsFromObservation ? 2 : 0;
    this.observationSize = nq + nv - this.#skipped;
  }

  begin(data: PhysicsData, random: SeededRandom): void {
    const { resetNoiseScale } = this.#options;
    scatterPositions(data, this.#model.qpos0, random, resetNoiseScale);
    scatterVelocities(data, random, resetNoiseScale);
  }

  locate({ qpos }: PhysicsData, place: Float64Array): void {
    place[0] = qpos[0];
    place[1] = qpos[1];
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
    return {
      x_position: qpos[0],
      y_position: qpos[1],
      distance_from_origin: Math.hypot(qpos[0], qpos[1]),
      x_velocity: velocity[0],
      y_velocity: velocity[1],
      reward_forward: this.#forward,
      reward_ctrl: -this.#cost,
    };
  }
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
  rules: (model, options) => new SwimmerRules(model, options),
};
