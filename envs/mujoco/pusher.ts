import type { SeededRandom } from "../random.ts";
import { scatterVelocities } from "./_begin.ts";
import { bodyNamed, distanceBetween } from "./_bodies.ts";
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

/** Options of Pusher. */
export interface PusherOptions extends MujocoOptions {
  /**
   * What the distance of the fingertip from the object in metres is multiplied
   * by and costs.
   *
   * @default 0.5
   */
  rewardNearWeight?: number;
  /**
   * What the distance of the object from the goal in metres is multiplied by
   * and costs.
   *
   * @default 1
   */
  rewardDistWeight?: number;
  /**
   * What the sum of squared actions is multiplied by and costs.
   *
   * @default 0.1
   */
  rewardControlWeight?: number;
}

const VELOCITY_NOISE = 0.005;
/** Metres from the goal that the object lies at first at least. */
const LEAST_DISTANCE = 0.17;
/** Joints of the arm. */
const ARM = 7;

class PusherRules implements MujocoRules {
  readonly observationSize: number = 2 * ARM + 9;
  readonly usesContactForces = false;

  #model: PhysicsModel;
  #options: Resolved<PusherOptions>;
  #tip: number;
  #object: number;
  #goal: number;
  #near = 0;
  #distance = 0;
  #cost = 0;
  #outcome: Outcome = { reward: 0, terminated: false };

  constructor(model: PhysicsModel, options: Resolved<PusherOptions>) {
    this.#model = model;
    this.#options = options;
    this.#tip = bodyNamed(model, "tips_arm", "Pusher");
    this.#object = bodyNamed(model, "object", "Pusher");
    this.#goal = bodyNamed(model, "goal", "Pusher");
  }

  begin(data: PhysicsData, random: SeededRandom): void {
    const { qpos, qvel } = data;
    qpos.set(this.#model.qpos0);
    let x: number, y: number;
    do {
      x = random.uniform(-0.3, 0);
      y = random.uniform(-0.2, 0.2);
    } while (Math.sqrt(x * x + y * y) <= LEAST_DISTANCE);
    qpos[qpos.length - 4] = x;
    qpos[qpos.length - 3] = y;
    qpos.fill(0, -2);
    scatterVelocities(data, random, VELOCITY_NOISE);
    qvel.fill(0, -4);
  }

  /** No speed is rewarded. */
  locate(): void {}

  observe({ qpos, qvel, xpos }: PhysicsData, row: ObservationRow): void {
    append(row, qpos, 0, ARM);
    append(row, qvel, 0, ARM);
    append(row, xpos, 3 * this.#tip, 3 * this.#tip + 3);
    append(row, xpos, 3 * this.#object, 3 * this.#object + 3);
    append(row, xpos, 3 * this.#goal, 3 * this.#goal + 3);
  }

  judge(
    data: PhysicsData,
    _velocity: Float64Array,
    action: ActionRow,
  ): Outcome {
    const options = this.#options;
    const toTip = distanceBetween(data, this.#object, this.#tip);
    const toGoal = distanceBetween(data, this.#object, this.#goal);
    this.#near = -toTip * options.rewardNearWeight;
    this.#distance = -toGoal * options.rewardDistWeight;
    this.#cost = actionCost(
      options.rewardControlWeight,
      action,
      this.#model.sizes.nu,
    );
    this.#outcome.reward = this.#distance - this.#cost + this.#near;
    return this.#outcome;
  }

  info(): MujocoInfo {
    return {
      reward_dist: this.#distance,
      reward_ctrl: -this.#cost,
      reward_near: this.#near,
    };
  }
}

/** An arm of seven joints that is to push an object to a goal. */
export const PUSHER: MujocoTask<PusherOptions> = {
  name: "Pusher",
  defaults: {
    xmlFile: "pusher_v5.xml",
    frameSkip: 5,
    defaultCameraConfig: { trackBodyId: -1, distance: 2.5, elevation: -45 },
    rewardNearWeight: 0.5,
    rewardDistWeight: 1,
    rewardControlWeight: 0.1,
  },
  rules: (model, options) => new PusherRules(model, options),
};
