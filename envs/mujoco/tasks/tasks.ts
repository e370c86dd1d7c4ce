import type { MujocoOwnOptions, MujocoTask } from "./mujoco_task.ts";
import * as arms from "./arms.ts";
import * as humanoids from "./humanoids.ts";
import * as pendulums from "./pendulums.ts";
import * as runners from "./runners.ts";

/** The options of each kind of environment, by its name. */
export interface MujocoTaskOptions {
  /**
   * A planar runner of two legs that is to run forward. The reward is its speed along
   * `x` in metres a second less 0.1 times the sum of squared actions; no episode ends.
   * Six actions from -1 to 1 are torques on the joints; observations are the eight
   * positions without `x` and the nine velocities.
   */
  HalfCheetah: runners.HalfCheetahOptions;
  /**
   * A planar leg that is to hop forward. The reward is 1 for each step that ends
   * healthy, and its speed along `x` less 0.001 times the sum of squared actions. An
   * episode ends when it falls. Three torques from -1 to 1; eleven observations.
   */
  Hopper: runners.HopperOptions;
  /**
   * A planar body on two legs that is to walk forward. The reward is 1 for each step
   * that ends healthy, and its speed along `x` less 0.001 times the sum of squared
   * actions. An episode ends when it falls. Six torques from -1 to 1; 17
   * observations.
   */
  Walker2d: runners.Walker2dOptions;
  /**
   * A body on four legs that is to run along `x`. The reward is 1 for each step that
   * ends healthy, and its speed less the costs of actions and contacts. An episode
   * ends when it jumps or falls. Eight torques from -1 to 1; 105 observations:
   * positions, velocities and contact forces.
   */
  Ant: runners.AntOptions;
  /**
   * A human figure that is to walk along `x`. The reward is 5 for each step that ends
   * healthy, and 1.25 times its speed less the costs of controls and contacts. An
   * episode ends when it falls. 17 torques from -0.4 to 0.4; 348 observations:
   * positions, velocities, inertias, the bodies' velocities, and forces.
   */
  Humanoid: humanoids.HumanoidOptions;
  /**
   * A human figure on its back that is to stand up. The reward is its height over the
   * seconds of a step of the simulation, less the costs of controls and contacts, and
   * 1; no episode ends. 17 torques from -0.4 to 0.4; 348 observations.
   */
  HumanoidStandup: humanoids.HumanoidStandupOptions;
  /**
   * A chain of three links in a fluid that is to swim along `x`. The reward is its
   * speed less 0.0001 times the sum of squared actions; no episode ends. Two torques
   * from -1 to 1; eight observations.
   */
  Swimmer: runners.SwimmerOptions;
  /**
   * An arm of two joints whose fingertip is to reach a goal. The reward is minus the
   * distance in metres and the sum of squared actions; no episode ends. Two torques
   * from -1 to 1; ten observations.
   */
  Reacher: arms.ReacherOptions;
  /**
   * An arm of seven joints that is to push an object to a goal. The reward is minus
   * the distances of the fingertip from the object and of the object from the goal,
   * and the cost of actions; no episode ends. Seven torques from -2 to 2; 23
   * observations.
   */
  Pusher: arms.PusherOptions;
  /**
   * A cart that is to keep a pole upright. The reward is 1 for each step until the
   * pole leans by more than 0.2 radians. One force from -3 to 3; four observations.
   */
  InvertedPendulum: pendulums.InvertedPendulumOptions;
  /**
   * A cart that is to keep a pole of two links upright. The reward is 10 for each step
   * until the tip falls below a metre, less what it is away from the top and its
   * speeds. One force from -1 to 1; nine observations.
   */
  InvertedDoublePendulum: pendulums.InvertedDoublePendulumOptions;
}

/** The kinds of environments on MuJoCo. */
export type MujocoTaskName = keyof MujocoTaskOptions;

/** A built-in kind of environment by its name, or a custom task. */
export type MujocoChoice = MujocoTaskName | MujocoTask;

/** Options of an environment: those of all, and its kind's own. */
export type MujocoOptionsOf<T extends MujocoChoice> = T extends MujocoTaskName
  ? MujocoTaskOptions[T]
  : T extends MujocoTask<infer O> ? MujocoOwnOptions<O>
  : never;

/** All kinds of environments by name. */
export const TASKS: Readonly<Record<MujocoTaskName, MujocoTask>> = {
  HalfCheetah: runners.HALF_CHEETAH,
  Hopper: runners.HOPPER,
  Walker2d: runners.WALKER_2D,
  Ant: runners.ANT,
  Humanoid: humanoids.HUMANOID,
  HumanoidStandup: humanoids.HUMANOID_STANDUP,
  Swimmer: runners.SWIMMER,
  Reacher: arms.REACHER,
  Pusher: arms.PUSHER,
  InvertedPendulum: pendulums.INVERTED_PENDULUM,
  InvertedDoublePendulum: pendulums.INVERTED_DOUBLE_PENDULUM,
};
