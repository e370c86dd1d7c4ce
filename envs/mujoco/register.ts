import type { EnvSpec } from "@bellman/types";
import { type EnvKwargs, register } from "../registry.ts";
import type { MujocoTaskName } from "./_tasks.ts";
import { AntEnv } from "./ant_env.ts";
import { HalfCheetahEnv } from "./half_cheetah_env.ts";
import { HopperEnv } from "./hopper_env.ts";
import { HumanoidEnv } from "./humanoid_env.ts";
import { HumanoidStandupEnv } from "./humanoid_standup_env.ts";
import { InvertedDoublePendulumEnv } from "./inverted_double_pendulum_env.ts";
import { InvertedPendulumEnv } from "./inverted_pendulum_env.ts";
import type { MujocoEnv } from "./mujoco_env.ts";
import { MujocoVecEnv } from "./mujoco_vec_env.ts";
import { PusherEnv } from "./pusher_env.ts";
import { ReacherEnv } from "./reacher_env.ts";
import { SwimmerEnv } from "./swimmer_env.ts";
import { Walker2dEnv } from "./walker2d_env.ts";

/** A kind of environment with Gymnasium's time limit and reward threshold. */
interface Entry extends Omit<EnvSpec, "id"> {
  readonly single: new (options: EnvKwargs) => MujocoEnv;
}

const ENTRIES: Readonly<Record<MujocoTaskName, Entry>> = {
  Reacher: { single: ReacherEnv, maxEpisodeSteps: 50, rewardThreshold: -3.75 },
  Pusher: { single: PusherEnv, maxEpisodeSteps: 100, rewardThreshold: 0 },
  InvertedPendulum: {
    single: InvertedPendulumEnv,
    maxEpisodeSteps: 1000,
    rewardThreshold: 950,
  },
  InvertedDoublePendulum: {
    single: InvertedDoublePendulumEnv,
    maxEpisodeSteps: 1000,
    rewardThreshold: 9100,
  },
  HalfCheetah: {
    single: HalfCheetahEnv,
    maxEpisodeSteps: 1000,
    rewardThreshold: 4800,
  },
  Hopper: { single: HopperEnv, maxEpisodeSteps: 1000, rewardThreshold: 3800 },
  Swimmer: { single: SwimmerEnv, maxEpisodeSteps: 1000, rewardThreshold: 360 },
  Walker2d: { single: Walker2dEnv, maxEpisodeSteps: 1000 },
  Ant: { single: AntEnv, maxEpisodeSteps: 1000, rewardThreshold: 6000 },
  Humanoid: { single: HumanoidEnv, maxEpisodeSteps: 1000 },
  HumanoidStandup: { single: HumanoidStandupEnv, maxEpisodeSteps: 1000 },
};

for (const [name, { single, ...limits }] of Object.entries(ENTRIES)) {
  const spec: EnvSpec = { id: `${name}-v5`, ...limits };
  register({
    ...spec,
    make: (kwargs) => new single(kwargs),
    makeVec: ({ numEnvs, maxEpisodeSteps, kwargs }) =>
      new MujocoVecEnv(name as MujocoTaskName, {
        numEnvs,
        maxEpisodeSteps,
        kwargs,
        spec: { ...spec, maxEpisodeSteps },
      }),
  });
}
