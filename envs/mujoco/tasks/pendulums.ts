/** InvertedPendulum and InvertedDoublePendulum: carts that are to balance poles. */
import { areFinite } from "../../spaces/arrays.ts";
import type { MujocoOptions } from "./mujoco_options.ts";
import { type MujocoTask, mujocoTask, type OwnValues } from "./mujoco_task.ts";

/** Options of InvertedPendulum. */
export interface InvertedPendulumOptions extends MujocoOptions {
  /**
   * Largest distance of initial positions and velocities from the model's.
   *
   * @default 0.01
   */
  resetNoiseScale?: number;
}

/** Radians from upright beyond which the pole has fallen. */
const LARGEST_ANGLE = 0.2;

/** A cart that is to keep a pole upright. */
export const INVERTED_PENDULUM: MujocoTask = mujocoTask({
  name: "InvertedPendulum",
  xml: "inverted_pendulum.xml",
  frameSkip: 2,
  camera: { trackBodyId: 0, distance: 2.04 },
  resetNoiseScale: 0.01,
  isTerminated: ({ qpos, qvel }) =>
    !(areFinite(qpos) && areFinite(qvel) && Math.abs(qpos[1]) <= LARGEST_ANGLE),
  reward: (_, { terminated }) => ({ reward_survive: terminated ? 0 : 1 }),
});

/** Options of InvertedDoublePendulum. */
export interface InvertedDoublePendulumOptions extends MujocoOptions {
  /**
   * Reward of each step that ends healthy.
   *
   * @default 10
   */
  healthyReward?: number;
  /**
   * Largest distance of initial positions from the model's, and standard deviation
   * of initial velocities.
   *
   * @default 0.1
   */
  resetNoiseScale?: number;
}

/** Greatest velocity and force that is seen. */
const SEEN = 10;
/** Metres above the cart at which the tip has fallen. */
const FALLEN_HEIGHT = 1;

function clipped(value: number): number {
  return Math.min(Math.max(value, -SEEN), SEEN);
}

/** A cart that is to keep a pole of two links upright. */
export const INVERTED_DOUBLE_PENDULUM: MujocoTask = mujocoTask<
  OwnValues<InvertedDoublePendulumOptions>
>({
  name: "InvertedDoublePendulum",
  xml: "inverted_double_pendulum.xml",
  frameSkip: 5,
  camera: { trackBodyId: 0, distance: 4.1225, lookAt: [0, 0, 0.1225] },
  resetNoiseScale: 0.1,
  velocityNoise: "normal",
  options: { healthyReward: 10 },
  observe({ qpos, qvel, qfrcConstraint }) {
    const angles = qpos.subarray(1);
    return [
      qpos[0],
      angles.map(Math.sin),
      angles.map(Math.cos),
      qvel.map(clipped),
      clipped(qfrcConstraint[0]),
    ];
  },
  isTerminated: ({ siteXpos }) => siteXpos[2] <= FALLEN_HEIGHT,
  reward({ siteXpos: [x, _y, z], qvel }, { terminated, options }) {
    const distance = 0.01 * (x * x) + (z - 2) * (z - 2);
    const speed = 0.001 * (qvel[1] * qvel[1]) + 0.005 * (qvel[2] * qvel[2]);
    return {
      reward_survive: terminated ? 0 : options.healthyReward,
      distance_penalty: -distance,
      velocity_penalty: -speed,
    };
  },
});
