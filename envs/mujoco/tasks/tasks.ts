import type { MujocoTask } from "./_rules.ts";
import * as arms from "./arms.ts";
import * as humanoids from "./humanoids.ts";
import * as pendulums from "./pendulums.ts";
import * as runners from "./runners.ts";

/** The options of each kind of environment, by its name. */
export interface MujocoTaskOptions {
  /** A planar runner of two legs. */
  HalfCheetah: runners.HalfCheetahOptions;
  /** A planar leg. */
  Hopper: runners.HopperOptions;
  /** A planar body on two legs. */
  Walker2d: runners.Walker2dOptions;
  /** A body on four legs. */
  Ant: runners.AntOptions;
  /** A human figure that walks. */
  Humanoid: humanoids.HumanoidOptions;
  /** A human figure that stands up. */
  HumanoidStandup: humanoids.HumanoidStandupOptions;
  /** A chain in a fluid. */
  Swimmer: runners.SwimmerOptions;
  /** An arm that reaches a goal. */
  Reacher: arms.ReacherOptions;
  /** An arm that pushes an object. */
  Pusher: arms.PusherOptions;
  /** A cart with a pole. */
  InvertedPendulum: pendulums.InvertedPendulumOptions;
  /** A cart with a pole of two links. */
  InvertedDoublePendulum: pendulums.InvertedDoublePendulumOptions;
}

/** The kinds of environments on MuJoCo. */
export type MujocoTaskName = keyof MujocoTaskOptions;

/** All kinds of environments by name. */
export const TASKS: {
  readonly [N in MujocoTaskName]: MujocoTask<MujocoTaskOptions[N]>;
} = {
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
