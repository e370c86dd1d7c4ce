import type { SeededRandom } from "../random.ts";
import { normalVelocities, scatterPositions } from "./_begin.ts";
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
 * Options of HalfCheetah.
 *
 * @example
 * ```ts
 * import type { HalfCheetahOptions } from "@bellman/envs/mujoco";
 * import { assertEquals } from "@std/assert";
 *
 * const options: HalfCheetahOptions = { ctrlCostWeight: 0 };
 * assertEquals(options.ctrlCostWeight, 0);
 * ```
 */
export interface HalfCheetahOptions extends MujocoOptions {
  /**
   * What the speed along `x` in metres a second is multiplied by.
   *
   * @default 1
   */
  forwardRewardWeight?: number;
  /**
   * What the sum of squared actions is multiplied by and costs.
   *
   * @default 0.1
   */
  ctrlCostWeight?: number;
  /**
   * How far the first positions lie from the model's at most, and the standard
   * deviation of the first velocities.
   *
   * @default 0.1
   */
  resetNoiseScale?: number;
  /**
   * Whether observations leave out the position along `x`.
   *
   * @default true
   */
  excludeCurrentPositionsFromObservation?: boolean;
}

class HalfCheetahRules implements MujocoRules {
  readonly observationSize: number;
  readonly usesContactForces = false;

  #model: PhysicsModel;
  #options: Resolved<HalfCheetahOptions>;
  #skipped: number;
  #forward = 0;
  #cost = 0;
  #outcome: Outcome = { reward: 0, terminated: false };

  constructor(model: PhysicsModel, options: Resolved<HalfCheetahOptions>) {
    const { nq, nv } = model.sizes;
    this.#model = model;
    this.#options = options;
    this.#skipped = options.excludeCurrentPositionsFromObservation ? 1 : 0;
    this.observationSize = nq + nv - this.#skipped;
  }

  begin(data: PhysicsData, random: SeededRandom): void {
    const { resetNoiseScale } = this.#options;
    scatterPositions(data, this.#model.qpos0, random, resetNoiseScale);
    normalVelocities(data, random, resetNoiseScale);
  }

  locate({ qpos }: PhysicsData, place: Float64Array): void {
    place[0] = qpos[0];
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
      x_velocity: velocity[0],
      reward_forward: this.#forward,
      reward_ctrl: -this.#cost,
    };
  }
}

/** A planar runner of two legs that is to run forward. */
export const HALF_CHEETAH: MujocoTask<HalfCheetahOptions> = {
  name: "HalfCheetah",
  defaults: {
    xmlFile: "half_cheetah.xml",
    frameSkip: 5,
    defaultCameraConfig: { distance: 4 },
    forwardRewardWeight: 1,
    ctrlCostWeight: 0.1,
    resetNoiseScale: 0.1,
    excludeCurrentPositionsFromObservation: true,
  },
  rules: (model, options) => new HalfCheetahRules(model, options),
};
