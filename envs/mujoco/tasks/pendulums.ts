/** InvertedPendulum and InvertedDoublePendulum: carts that are to balance poles. */
import type { PhysicsData, PhysicsModel } from "../physics/_physics.ts";
import {
  append,
  appendClipped,
  drawNormalState,
  type MujocoInfo,
  type MujocoTask,
  type ObservationRow,
  type Outcome,
  type Resolved,
  StateRules,
} from "./_rules.ts";
import type { MujocoOptions } from "./mujoco_options.ts";

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

class InvertedPendulumRules
  extends StateRules<Resolved<InvertedPendulumOptions>> {
  evaluate({ qpos, qvel }: PhysicsData): Outcome {
    const isUpright = qpos.every(Number.isFinite) &&
      qvel.every(Number.isFinite) && Math.abs(qpos[1]) <= LARGEST_ANGLE;
    this.outcome.reward = isUpright ? 1 : 0;
    this.outcome.terminated = !isUpright;
    return this.outcome;
  }

  info(): MujocoInfo {
    return { reward_survive: this.outcome.reward };
  }
}

/** A cart that is to keep a pole upright. */
export const INVERTED_PENDULUM: MujocoTask<InvertedPendulumOptions> = {
  defaults: {
    xmlFile: "inverted_pendulum.xml",
    frameSkip: 2,
    defaultCameraConfig: { trackBodyId: 0, distance: 2.04 },
    resetNoiseScale: 0.01,
  },
  rules: (model, options) => new InvertedPendulumRules(model, options),
};

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

/** Range that observed velocities and forces are clipped to. */
const SEEN: readonly [low: number, high: number] = [-10, 10];
/** Metres above the cart at which the tip has fallen. */
const FALLEN_HEIGHT = 1;

class InvertedDoublePendulumRules
  extends StateRules<Resolved<InvertedDoublePendulumOptions>> {
  #survival = 0;
  #distance = 0;
  #speed = 0;

  constructor(
    model: PhysicsModel,
    options: Resolved<InvertedDoublePendulumOptions>,
  ) {
    super(model, options, { extra: model.sizes.nq, draw: drawNormalState });
  }

  override observe(
    { qpos, qvel, qfrcConstraint }: PhysicsData,
    row: ObservationRow,
  ): void {
    const { values } = row;
    append(row, qpos, 0, 1);
    for (let i = 1; i < qpos.length; i++) values[row.at++] = Math.sin(qpos[i]);
    for (let i = 1; i < qpos.length; i++) values[row.at++] = Math.cos(qpos[i]);
    appendClipped(row, qvel, SEEN);
    const [low, high] = SEEN;
    values[row.at++] = Math.min(Math.max(qfrcConstraint[0], low), high);
  }

  evaluate({ siteXpos, qvel }: PhysicsData): Outcome {
    const outcome = this.outcome, x = siteXpos[0], z = siteXpos[2];
    outcome.terminated = z <= FALLEN_HEIGHT;
    this.#survival = outcome.terminated ? 0 : this.options.healthyReward;
    this.#distance = 0.01 * (x * x) + (z - 2) * (z - 2);
    this.#speed = 0.001 * (qvel[1] * qvel[1]) + 0.005 * (qvel[2] * qvel[2]);
    outcome.reward = this.#survival - this.#distance - this.#speed;
    return outcome;
  }

  info(): MujocoInfo {
    return {
      reward_survive: this.#survival,
      distance_penalty: -this.#distance,
      velocity_penalty: -this.#speed,
    };
  }
}

/** A cart that is to keep a pole of two links upright. */
export const INVERTED_DOUBLE_PENDULUM: MujocoTask<
  InvertedDoublePendulumOptions
> = {
  defaults: {
    xmlFile: "inverted_double_pendulum.xml",
    frameSkip: 5,
    defaultCameraConfig: {
      trackBodyId: 0,
      distance: 4.1225,
      lookAt: [0, 0, 0.1225],
    },
    healthyReward: 10,
    resetNoiseScale: 0.1,
  },
  rules: (model, options) => new InvertedDoublePendulumRules(model, options),
};
