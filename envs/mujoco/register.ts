import type { EnvSpec } from "@bellman/types";
import { register } from "../registry/registry.ts";
import { MujocoEnv, MujocoVecEnv } from "./mujoco_env.ts";
import type { MujocoTaskName } from "./tasks/tasks.ts";

/** Limits in Gymnasium of each kind: 1000 steps, unless it says. */
const LIMITS: Readonly<Record<MujocoTaskName, Omit<EnvSpec, "id">>> = {
  Reacher: { maxEpisodeSteps: 50, rewardThreshold: -3.75 },
  Pusher: { maxEpisodeSteps: 100, rewardThreshold: 0 },
  InvertedPendulum: { rewardThreshold: 950 },
  InvertedDoublePendulum: { rewardThreshold: 9100 },
  HalfCheetah: { rewardThreshold: 4800 },
  Hopper: { rewardThreshold: 3800 },
  Swimmer: { rewardThreshold: 360 },
  Walker2d: {},
  Ant: { rewardThreshold: 6000 },
  Humanoid: {},
  HumanoidStandup: {},
};

for (const [key, limits] of Object.entries(LIMITS)) {
  const name = key as MujocoTaskName;
  const spec = { id: `${name}-v5`, maxEpisodeSteps: 1000, ...limits };
  register({
    ...spec,
    make: (kwargs) => new MujocoEnv(name, kwargs),
    makeVec: ({ numEnvs, maxEpisodeSteps, kwargs }) =>
      new MujocoVecEnv(name, {
        numEnvs,
        maxEpisodeSteps,
        kwargs,
        spec: { ...spec, maxEpisodeSteps },
      }),
  });
}
