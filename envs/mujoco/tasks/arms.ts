/** Reacher and Pusher: arms that are rewarded for being near. */
import type { SeededRandom } from "../../random.ts";
import { actionCost } from "./_numpy_sums.ts";
import { drawPositions, drawVelocities } from "./_rules.ts";
import type { MujocoOptions } from "./mujoco_options.ts";
import { type MujocoTask, mujocoTask, type OwnValues } from "./mujoco_task.ts";

/** Computes the metres between two points. */
function distanceBetween(a: Float64Array, b: Float64Array): number {
  const x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  return Math.sqrt(x * x + y * y + z * z);
}

/** Draws a point until it is far or near enough. */
function drawPoint(
  [width, height]: readonly (readonly [low: number, high: number])[],
  random: SeededRandom,
  isFine: (distance: number) => boolean,
): [x: number, y: number] {
  for (;;) {
    const x = random.uniform(...width), y = random.uniform(...height);
    if (isFine(Math.sqrt(x * x + y * y))) return [x, y];
  }
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

/** An arm of two joints that is to reach a goal in the plane. */
export const REACHER: MujocoTask = mujocoTask<OwnValues<ReacherOptions>>({
  name: "Reacher",
  xml: "reacher.xml",
  frameSkip: 2,
  camera: { trackBodyId: 0, distance: 0.8, elevation: -60 },
  options: { rewardDistWeight: 1, rewardControlWeight: 1 },
  begin(state, { model, random }) {
    const { qpos, qvel } = state, side = [-REACH, REACH] as const;
    drawPositions(state, model, random, POSITION_NOISE);
    const goal = drawPoint([side, side], random, (it) => it < REACH);
    qpos.set(goal, qpos.length - 2);
    drawVelocities(state, random, VELOCITY_NOISE);
    qvel.fill(0, -2);
  },
  observe({ qpos, qvel, xpos }, { model }) {
    const angles = qpos.subarray(0, REACHER_JOINTS);
    const tip = 3 * model.idOf("body", "fingertip");
    const target = 3 * model.idOf("body", "target");
    return [
      angles.map(Math.cos),
      angles.map(Math.sin),
      qpos.subarray(REACHER_JOINTS),
      qvel.subarray(0, REACHER_JOINTS),
      xpos[tip] - xpos[target],
      xpos[tip + 1] - xpos[target + 1],
    ];
  },
  reward({ xpos }, { model, options, action }) {
    const [tip, target] = ["fingertip", "target"]
      .map((it) => xpos.subarray(3 * model.idOf("body", it)));
    return {
      reward_dist: -distanceBetween(tip, target) * options.rewardDistWeight,
      reward_ctrl: -actionCost(options.rewardControlWeight, action),
    };
  },
});

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
/** Bodies that are seen. */
const PUSHER_BODIES = ["tips_arm", "object", "goal"];

/** An arm of seven joints that is to push an object to a goal. */
export const PUSHER: MujocoTask = mujocoTask<OwnValues<PusherOptions>>({
  name: "Pusher",
  xml: "pusher_v5.xml",
  frameSkip: 5,
  camera: { trackBodyId: -1, distance: 2.5, elevation: -45 },
  options: {
    rewardNearWeight: 0.5,
    rewardDistWeight: 1,
    rewardControlWeight: 0.1,
  },
  begin(state, { random }) {
    const { qpos, qvel } = state;
    const object = drawPoint(
      [[-0.3, 0], [-0.2, 0.2]],
      random,
      (it) => it > LEAST_DISTANCE,
    );
    qpos.set(object, qpos.length - 4);
    qpos.fill(0, -2);
    drawVelocities(state, random, VELOCITY_NOISE);
    qvel.fill(0, -4);
  },
  observe({ qpos, qvel, xpos }, { model }) {
    const bodies = PUSHER_BODIES.map((it) => 3 * model.idOf("body", it));
    return [
      qpos.subarray(0, PUSHER_JOINTS),
      qvel.subarray(0, PUSHER_JOINTS),
      ...bodies.map((at) => xpos.subarray(at, at + 3)),
    ];
  },
  reward({ xpos }, { model, options, action }) {
    const [tip, object, goal] = PUSHER_BODIES
      .map((it) => xpos.subarray(3 * model.idOf("body", it)));
    return {
      reward_dist: -distanceBetween(object, goal) * options.rewardDistWeight,
      reward_ctrl: -actionCost(options.rewardControlWeight, action),
      reward_near: -distanceBetween(object, tip) * options.rewardNearWeight,
    };
  },
});
