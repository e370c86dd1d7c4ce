/** Reacher and Pusher: arms that are rewarded for being near. */
import type { SeededRandom } from "../../random.ts";
import type { PhysicsData, PhysicsModel } from "../physics/_physics.ts";
import { actionCost } from "./_numpy_sums.ts";
import {
  type ActionRow,
  append,
  drawPositions,
  drawVelocities,
  idOf,
  type MujocoInfo,
  MujocoRules,
  type ObservationRow,
  type Outcome,
  type Resolved,
  type TaskKind,
} from "./_rules.ts";
import type { MujocoOptions } from "./mujoco_options.ts";

/** Computes the metres between the frames of two bodies. */
function distanceBetween(
  { xpos }: PhysicsData,
  a: number,
  b: number,
): number {
  const x = xpos[3 * a] - xpos[3 * b];
  const y = xpos[3 * a + 1] - xpos[3 * b + 1];
  const z = xpos[3 * a + 2] - xpos[3 * b + 2];
  return Math.sqrt(x * x + y * y + z * z);
}

/** Options of Reacher. */
export interface ReacherOptions extends MujocoOptions {
  /**
   * Weight of the distance from the goal, in metres.
   *
   * @default 1
   */
  rewardDistWeight?: number;
  /**
   * Weight of the control cost, the sum of squared actions.
   *
   * @default 1
   */
  rewardControlWeight?: number;
}

/** Largest initial distance of an arm from the model's, and its velocities. */
const POSITION_NOISE = 0.1, VELOCITY_NOISE = 0.005;
/** Metres from the middle within which goals lie. */
const REACH = 0.2;
/** Joints of the arm; the others are those of the goal. */
const REACHER_JOINTS = 2;

class ReacherRules extends MujocoRules<Resolved<ReacherOptions>> {
  readonly observationSize: number;

  #fingertip: number;
  #target: number;
  #distance = 0;
  #cost = 0;

  constructor(model: PhysicsModel, options: Resolved<ReacherOptions>) {
    super(model, options);
    this.#fingertip = idOf(model, ["body", "fingertip"], "Reacher");
    this.#target = idOf(model, ["body", "target"], "Reacher");
    this.observationSize = 2 * REACHER_JOINTS +
      (model.sizes.nq - REACHER_JOINTS) + REACHER_JOINTS + 2;
  }

  begin(data: PhysicsData, random: SeededRandom): void {
    const { qpos, qvel } = data;
    drawPositions(data, this.model, random, POSITION_NOISE);
    let x: number, y: number;
    do {
      x = random.uniform(-REACH, REACH);
      y = random.uniform(-REACH, REACH);
    } while (Math.sqrt(x * x + y * y) >= REACH);
    qpos[qpos.length - 2] = x;
    qpos[qpos.length - 1] = y;
    drawVelocities(data, random, VELOCITY_NOISE);
    qvel.fill(0, -2);
  }

  observe({ qpos, qvel, xpos }: PhysicsData, row: ObservationRow): void {
    const { values } = row;
    for (let i = 0; i < REACHER_JOINTS; i++) {
      values[row.at++] = Math.cos(qpos[i]);
    }
    for (let i = 0; i < REACHER_JOINTS; i++) {
      values[row.at++] = Math.sin(qpos[i]);
    }
    append(row, qpos, REACHER_JOINTS);
    append(row, qvel, 0, REACHER_JOINTS);
    const tip = 3 * this.#fingertip, target = 3 * this.#target;
    values[row.at++] = xpos[tip] - xpos[target];
    values[row.at++] = xpos[tip + 1] - xpos[target + 1];
  }

  evaluate(
    data: PhysicsData,
    _velocity: Float64Array,
    action: ActionRow,
  ): Outcome {
    const { rewardDistWeight, rewardControlWeight } = this.options;
    const distance = distanceBetween(data, this.#fingertip, this.#target);
    this.#distance = -distance * rewardDistWeight;
    this.#cost = actionCost(rewardControlWeight, action, this.model.sizes.nu);
    this.outcome.reward = this.#distance - this.#cost;
    return this.outcome;
  }

  info(): MujocoInfo {
    return { reward_dist: this.#distance, reward_ctrl: -this.#cost };
  }
}

/** An arm of two joints that is to reach a goal in the plane. */
export const REACHER: TaskKind<ReacherOptions> = {
  defaults: {
    xmlFile: "reacher.xml",
    frameSkip: 2,
    defaultCameraConfig: { trackBodyId: 0, distance: 0.8, elevation: -60 },
    rewardDistWeight: 1,
    rewardControlWeight: 1,
  },
  rules: (model, options) => new ReacherRules(model, options),
};

/** Options of Pusher. */
export interface PusherOptions extends MujocoOptions {
  /**
   * Weight of the distance of the fingertip from the object, in metres.
   *
   * @default 0.5
   */
  rewardNearWeight?: number;
  /**
   * Weight of the distance of the object from the goal, in metres.
   *
   * @default 1
   */
  rewardDistWeight?: number;
  /**
   * Weight of the control cost, the sum of squared actions.
   *
   * @default 0.1
   */
  rewardControlWeight?: number;
}

/** Smallest initial distance of the object from the goal, in metres. */
const LEAST_DISTANCE = 0.17;
/** Joints of the arm. */
const PUSHER_JOINTS = 7;

class PusherRules extends MujocoRules<Resolved<PusherOptions>> {
  readonly observationSize: number = 2 * PUSHER_JOINTS + 9;

  #tip: number;
  #object: number;
  #goal: number;
  #near = 0;
  #distance = 0;
  #cost = 0;

  constructor(model: PhysicsModel, options: Resolved<PusherOptions>) {
    super(model, options);
    this.#tip = idOf(model, ["body", "tips_arm"], "Pusher");
    this.#object = idOf(model, ["body", "object"], "Pusher");
    this.#goal = idOf(model, ["body", "goal"], "Pusher");
  }

  begin(data: PhysicsData, random: SeededRandom): void {
    const { qpos, qvel } = data;
    qpos.set(this.model.qpos0);
    let x: number, y: number;
    do {
      x = random.uniform(-0.3, 0);
      y = random.uniform(-0.2, 0.2);
    } while (Math.sqrt(x * x + y * y) <= LEAST_DISTANCE);
    qpos[qpos.length - 4] = x;
    qpos[qpos.length - 3] = y;
    qpos.fill(0, -2);
    drawVelocities(data, random, VELOCITY_NOISE);
    qvel.fill(0, -4);
  }

  observe({ qpos, qvel, xpos }: PhysicsData, row: ObservationRow): void {
    append(row, qpos, 0, PUSHER_JOINTS);
    append(row, qvel, 0, PUSHER_JOINTS);
    append(row, xpos, 3 * this.#tip, 3 * this.#tip + 3);
    append(row, xpos, 3 * this.#object, 3 * this.#object + 3);
    append(row, xpos, 3 * this.#goal, 3 * this.#goal + 3);
  }

  evaluate(
    data: PhysicsData,
    _velocity: Float64Array,
    action: ActionRow,
  ): Outcome {
    const { options } = this, { nu } = this.model.sizes;
    const toTip = distanceBetween(data, this.#object, this.#tip);
    const toGoal = distanceBetween(data, this.#object, this.#goal);
    this.#near = -toTip * options.rewardNearWeight;
    this.#distance = -toGoal * options.rewardDistWeight;
    this.#cost = actionCost(options.rewardControlWeight, action, nu);
    this.outcome.reward = this.#distance - this.#cost + this.#near;
    return this.outcome;
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
export const PUSHER: TaskKind<PusherOptions> = {
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
