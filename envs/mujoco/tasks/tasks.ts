import type { MujocoTask } from "./_rules.ts";
import { ANT, type AntOptions } from "./ant.ts";
import {
  HALF_CHEETAH,
  type HalfCheetahOptions,
  SWIMMER,
  type SwimmerOptions,
} from "./runners.ts";
import {
  HOPPER,
  type HopperOptions,
  type Walker2dOptions,
  WALKER_2D,
} from "./walkers.ts";
import {
  HUMANOID,
  HUMANOID_STANDUP,
  type HumanoidOptions,
  type HumanoidStandupOptions,
} from "./humanoids.ts";
import {
  INVERTED_DOUBLE_PENDULUM,
  INVERTED_PENDULUM,
  type InvertedDoublePendulumOptions,
  type InvertedPendulumOptions,
} from "./pendulums.ts";
import {
  PUSHER,
  type PusherOptions,
  REACHER,
  type ReacherOptions,
} from "./arms.ts";

/** The options of each kind of environment, by its name. */
export interface MujocoTaskOptions {
  /** A planar runner of two legs. */
  HalfCheetah: HalfCheetahOptions;
  /** A planar leg. */
  Hopper: HopperOptions;
  /** A planar body on two legs. */
  Walker2d: Walker2dOptions;
  /** A body on four legs. */
  Ant: AntOptions;
  /** A human figure that walks. */
  Humanoid: HumanoidOptions;
  /** A human figure that stands up. */
  HumanoidStandup: HumanoidStandupOptions;
  /** A chain in a fluid. */
  Swimmer: SwimmerOptions;
  /** An arm that reaches a goal. */
  Reacher: ReacherOptions;
  /** An arm that pushes an object. */
  Pusher: PusherOptions;
  /** A cart with a pole. */
  InvertedPendulum: InvertedPendulumOptions;
  /** A cart with a pole of two links. */
  InvertedDoublePendulum: InvertedDoublePendulumOptions;
}

/** The kinds of environments on MuJoCo. */
export type MujocoTaskName = keyof MujocoTaskOptions;

/** All kinds of environments by name. */
export const TASKS: {
  readonly [N in MujocoTaskName]: MujocoTask<MujocoTaskOptions[N]>;
} = {
  HalfCheetah: HALF_CHEETAH,
  Hopper: HOPPER,
  Walker2d: WALKER_2D,
  Ant: ANT,
  Humanoid: HUMANOID,
  HumanoidStandup: HUMANOID_STANDUP,
  Swimmer: SWIMMER,
  Reacher: REACHER,
  Pusher: PUSHER,
  InvertedPendulum: INVERTED_PENDULUM,
  InvertedDoublePendulum: INVERTED_DOUBLE_PENDULUM,
};
