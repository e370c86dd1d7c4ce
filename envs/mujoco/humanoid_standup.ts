import type { SeededRandom } from "../random.ts";
import { scatterPositions, scatterVelocities } from "./_begin.ts";
import {
  FULL_VIEW,
  humanoidObservationSize,
  observeHumanoid,
} from "./_humanoid_view.ts";
import type { PhysicsData, PhysicsModel } from "./_physics.ts";
import type {
  MujocoInfo,
  MujocoRules,
  MujocoTask,
  ObservationRow,
  Outcome,
  Resolved,
} from "./_rules.ts";
import { sumOfSquares } from "./_sums.ts";
import type { HumanoidViewOptions } from "./humanoid_view_options.ts";

/** Options of HumanoidStandup. */
export interface HumanoidStandupOptions extends HumanoidViewOptions {
  /**
   * What the height over the seconds of a step of the simulation is multiplied
   * by. Gymnasium documents it so but leaves it out of its reward.
   *
   * @default 1
   */
  uphCostWeight?: number;
  /**
   * What the sum of squared controls is multiplied by and costs.
   *
   * @default 0.1
   */
  ctrlCostWeight?: number;
  /**
   * What the sum of squared contact forces is multiplied by and costs.
   *
   * @default 5e-7
   */
  impactCostWeight?: number;
  /**
   * What the cost of contacts is limited to.
   *
   * @default [-Infinity, 10]
   */
  impactCostRange?: readonly [low: number, high: number];
  /**
   * How far the first positions and velocities lie from the model's at most.
   *
   * @default 0.01
   */
  resetNoiseScale?: number;
}

class HumanoidStandupRules implements MujocoRules {
  readonly observationSize: number;
  readonly usesContactForces: boolean;

  #model: PhysicsModel;
  #options: Resolved<HumanoidStandupOptions>;
  #height = 0;
  #cost = 0;
  #impact = 0;
  #outcome: Outcome = { reward: 0, terminated: false };

  constructor(model: PhysicsModel, options: Resolved<HumanoidStandupOptions>) {
    this.#model = model;
    this.#options = options;
    this.usesContactForces = options.impactCostWeight !== 0 ||
      options.includeCfrcExtInObservation;
    this.observationSize = humanoidObservationSize(model.sizes, options);
  }

  begin(data: PhysicsData, random: SeededRandom): void {
    const { resetNoiseScale } = this.#options;
    scatterPositions(data, this.#model.qpos0, random, resetNoiseScale);
    scatterVelocities(data, random, resetNoiseScale);
  }

  /** No speed is rewarded. */
  locate(): void {}

  observe(data: PhysicsData, row: ObservationRow): void {
    observeHumanoid(data, this.#options, row);
  }

  judge({ qpos, ctrl, cfrcExt }: PhysicsData): Outcome {
    const options = this.#options;
    const [least, most] = options.impactCostRange;
    const impact = options.impactCostWeight * sumOfSquares(cfrcExt);
    this.#height = options.uphCostWeight * (qpos[2] / this.#model.timestep);
    this.#cost = options.ctrlCostWeight * sumOfSquares(ctrl);
    this.#impact = Math.min(Math.max(impact, least), most);
    this.#outcome.reward = this.#height - this.#cost - this.#impact + 1;
    return this.#outcome;
  }

  info(data: PhysicsData): MujocoInfo {
    const { qpos } = data;
    return {
      x_position: qpos[0],
      y_position: qpos[1],
      z_distance_from_origin: qpos[2] - this.#model.qpos0[2],
      tendon_length: data.tendonLength.slice(),
      tendon_velocity: data.tendonVelocity.slice(),
      reward_linup: this.#height,
      reward_quadctrl: -this.#cost,
      reward_impact: -this.#impact,
    };
  }
}

/** A human figure on its back that is to stand up. */
export const HUMANOID_STANDUP: MujocoTask<HumanoidStandupOptions> = {
  name: "HumanoidStandup",
  defaults: {
    xmlFile: "humanoidstandup.xml",
    frameSkip: 5,
    defaultCameraConfig: {
      trackBodyId: 1,
      distance: 4,
      lookAt: [0, 0, 0.8925],
    },
    uphCostWeight: 1,
    ctrlCostWeight: 0.1,
    impactCostWeight: 5e-7,
    impactCostRange: [-Infinity, 10],
    resetNoiseScale: 0.01,
    ...FULL_VIEW,
  },
  rules: (model, options) => new HumanoidStandupRules(model, options),
};
