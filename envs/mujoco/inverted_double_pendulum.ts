import type { SeededRandom } from "../random.ts";
import { normalVelocities, scatterPositions } from "./_begin.ts";
import { append, appendClipped } from "./_observe.ts";
import type { PhysicsData, PhysicsModel } from "./_physics.ts";
import type {
  MujocoInfo,
  MujocoRules,
  MujocoTask,
  ObservationRow,
  Outcome,
  Resolved,
} from "./_rules.ts";
import type { MujocoOptions } from "./mujoco_options.ts";

/** Options of InvertedDoublePendulum. */
export interface InvertedDoublePendulumOptions extends MujocoOptions {
  /**
   * The reward of each step that ends healthy.
   *
   * @default 10
   */
  healthyReward?: number;
  /**
   * How far the first positions lie from the model's at most, and the standard
   * deviation of the first velocities.
   *
   * @default 0.1
   */
  resetNoiseScale?: number;
}

/** Speeds and forces beyond are seen as these. */
const SEEN: readonly [low: number, high: number] = [-10, 10];
/** Metres above the cart at which the tip has fallen. */
const FALLEN = 1;

class InvertedDoublePendulumRules implements MujocoRules {
  readonly observationSize: number;
  readonly usesContactForces = false;

  #model: PhysicsModel;
  #options: Resolved<InvertedDoublePendulumOptions>;
  #survival = 0;
  #distance = 0;
  #speed = 0;
  #outcome: Outcome = { reward: 0, terminated: false };

  constructor(
    model: PhysicsModel,
    options: Resolved<InvertedDoublePendulumOptions>,
  ) {
    const { nq, nv } = model.sizes;
    this.#model = model;
    this.#options = options;
    this.observationSize = 1 + 2 * (nq - 1) + nv + 1;
  }

  begin(data: PhysicsData, random: SeededRandom): void {
    const { resetNoiseScale } = this.#options;
    scatterPositions(data, this.#model.qpos0, random, resetNoiseScale);
    normalVelocities(data, random, resetNoiseScale);
  }

  /** No speed is rewarded. */
  locate(): void {}

  observe(
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

  judge({ siteXpos, qvel }: PhysicsData): Outcome {
    const outcome = this.#outcome, x = siteXpos[0], z = siteXpos[2];
    outcome.terminated = z <= FALLEN;
    this.#survival = outcome.terminated ? 0 : this.#options.healthyReward;
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
  name: "InvertedDoublePendulum",
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
