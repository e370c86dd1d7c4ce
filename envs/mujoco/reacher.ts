import type { SeededRandom } from "../random.ts";
import { scatterPositions, scatterVelocities } from "./_begin.ts";
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

/** Options of Reacher. */
export interface ReacherOptions extends MujocoOptions {
  /**
   * What the distance from the goal in metres is multiplied by and costs.
   *
   * @default 1
   */
  rewardDistWeight?: number;
  /**
   * What the sum of squared actions is multiplied by and costs.
   *
   * @default 1
   */
  rewardControlWeight?: number;
}

const POSITION_NOISE = 0.1;
const VELOCITY_NOISE = 0.005;
/** Metres from the middle within which goals lie. */
const REACH = 0.2;
/** Joints of the arm; the others are those of the goal. */
const ARM = 2;

class ReacherRules implements MujocoRules {
  readonly observationSize: number;
  readonly usesContactForces = false;

  #model: PhysicsModel;
  #options: Resolved<ReacherOptions>;
  #fingertip: number;
  #target: number;
  #distance = 0;
  #cost = 0;
  #outcome: Outcome = { reward: 0, terminated: false };

  constructor(model: PhysicsModel, options: Resolved<ReacherOptions>) {
    this.#model = model;
    this.#options = options;
    this.#fingertip = bodyNamed(model, "fingertip", "Reacher");
    this.#target = bodyNamed(model, "target", "Reacher");
    this.observationSize = 2 * ARM + (model.sizes.nq - ARM) + ARM + 2;
  }

  begin(data: PhysicsData, random: SeededRandom): void {
    const { qpos, qvel } = data;
    scatterPositions(data, this.#model.qpos0, random, POSITION_NOISE);
    let x: number, y: number;
    do {
      x = random.uniform(-REACH, REACH);
      y = random.uniform(-REACH, REACH);
    } while (Math.sqrt(x * x + y * y) >= REACH);
    qpos[qpos.length - 2] = x;
    qpos[qpos.length - 1] = y;
    scatterVelocities(data, random, VELOCITY_NOISE);
    qvel.fill(0, -2);
  }

  /** No speed is rewarded. */
  locate(): void {}

  observe({ qpos, qvel, xpos }: PhysicsData, row: ObservationRow): void {
    const { values } = row;
    for (let i = 0; i < ARM; i++) values[row.at++] = Math.cos(qpos[i]);
    for (let i = 0; i < ARM; i++) values[row.at++] = Math.sin(qpos[i]);
    append(row, qpos, ARM);
    append(row, qvel, 0, ARM);
    const tip = 3 * this.#fingertip, target = 3 * this.#target;
    values[row.at++] = xpos[tip] - xpos[target];
    values[row.at++] = xpos[tip + 1] - xpos[target + 1];
  }

  judge(
    data: PhysicsData,
    _velocity: Float64Array,
    action: ActionRow,
  ): Outcome {
    const { rewardDistWeight, rewardControlWeight } = this.#options;
    const distance = distanceBetween(data, this.#fingertip, this.#target);
    this.#distance = -distance * rewardDistWeight;
    this.#cost = actionCost(rewardControlWeight, action, this.#model.sizes.nu);
    this.#outcome.reward = this.#distance - this.#cost;
    return this.#outcome;
  }

  info(): MujocoInfo {
    return { reward_dist: this.#distance, reward_ctrl: -this.#cost };
  }
}

/** An arm of two joints that is to reach a goal in the plane. */
export const REACHER: MujocoTask<ReacherOptions> = {
  name: "Reacher",
  defaults: {
    xmlFile: "reacher.xml",
    frameSkip: 2,
    defaultCameraConfig: { trackBodyId: 0, distance: 0.8, elevation: -60 },
    rewardDistWeight: 1,
    rewardControlWeight: 1,
  },
  rules: (model, options) => new ReacherRules(model, options),
};
