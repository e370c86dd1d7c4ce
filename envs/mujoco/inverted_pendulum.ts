import type { SeededRandom } from "../random.ts";
import { scatterPositions, scatterVelocities } from "./_begin.ts";
import { append } from "./_observe.ts";
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

/** Options of InvertedPendulum. */
export interface InvertedPendulumOptions extends MujocoOptions {
  /**
   * How far the first positions and velocities lie from the model's at most.
   *
   * @default 0.01
   */
  resetNoiseScale?: number;
}

/** Radians from upright at which the pole has fallen. */
const FALLEN = 0.2;

class InvertedPendulumRules implements MujocoRules {
  readonly observationSize: number;
  readonly usesContactForces = false;

  #model: PhysicsModel;
  #options: Resolved<InvertedPendulumOptions>;
  #outcome: Outcome = { reward: 0, terminated: false };

  constructor(model: PhysicsModel, options: Resolved<InvertedPendulumOptions>) {
    this.#model = model;
    this.#options = options;
    this.observationSize = model.sizes.nq + model.sizes.nv;
  }

  begin(data: PhysicsData, random: SeededRandom): void {
    const { resetNoiseScale } = this.#options;
    scatterPositions(data, this.#model.qpos0, random, resetNoiseScale);
    scatterVelocities(data, random, resetNoiseScale);
  }

  /** No speed is rewarded. */
  locate(): void {}

  observe({ qpos, qvel }: PhysicsData, row: ObservationRow): void {
    append(row, qpos);
    append(row, qvel);
  }

  judge({ qpos, qvel }: PhysicsData): Outcome {
    const isUpright = qpos.every(Number.isFinite) &&
      qvel.every(Number.isFinite) && Math.abs(qpos[1]) <= FALLEN;
    this.#outcome.reward = isUpright ? 1 : 0;
    this.#outcome.terminated = !isUpright;
    return this.#outcome;
  }

  info(): MujocoInfo {
    return { reward_survive: this.#outcome.reward };
  }
}

/** A cart that is to keep a pole upright. */
export const INVERTED_PENDULUM: MujocoTask<InvertedPendulumOptions> = {
  name: "InvertedPendulum",
  defaults: {
    xmlFile: "inverted_pendulum.xml",
    frameSkip: 2,
    defaultCameraConfig: { trackBodyId: 0, distance: 2.04 },
    resetNoiseScale: 0.01,
  },
  rules: (model, options) => new InvertedPendulumRules(model, options),
};
