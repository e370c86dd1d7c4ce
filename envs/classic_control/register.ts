import type { Env, VecEnv } from "@bellman/types";
import { register } from "../registry/registry.ts";
import { AcrobotEnv, AcrobotVecEnv } from "./acrobot.ts";
import { CartPoleEnv, CartPoleVecEnv } from "./cart_pole.ts";
import type { BatchedOptions } from "./dynamics.ts";
import {
  MountainCarContinuousEnv,
  MountainCarContinuousVecEnv,
  MountainCarEnv,
  MountainCarVecEnv,
} from "./mountain_car.ts";
import { PendulumEnv, PendulumVecEnv } from "./pendulum.ts";

/** Single and batched form, time limit and reward threshold by id. */
const ENVS: Record<
  string,
  [new () => Env, new (options: BatchedOptions) => VecEnv, number, number?]
> = {
  "CartPole-v0": [CartPoleEnv, CartPoleVecEnv, 200, 195],
  "CartPole-v1": [CartPoleEnv, CartPoleVecEnv, 500, 475],
  "MountainCar-v0": [MountainCarEnv, MountainCarVecEnv, 200, -110],
  "MountainCarContinuous-v0": [
    MountainCarContinuousEnv,
    MountainCarContinuousVecEnv,
    999,
    90,
  ],
  "Acrobot-v1": [AcrobotEnv, AcrobotVecEnv, 500, -100],
  "Pendulum-v1": [PendulumEnv, PendulumVecEnv, 200],
};

function checkNoKwargs(id: string, kwargs: object): void {
  const [key] = Object.keys(kwargs);
  if (key === undefined) return;
  throw new TypeError(`Cannot make ${id} with '${key}': it has no options`);
}

for (const [id, entry] of Object.entries(ENVS)) {
  const [Single, Batched, maxEpisodeSteps, rewardThreshold] = entry;
  const spec = { id, maxEpisodeSteps, rewardThreshold };
  register({
    ...spec,
    make(kwargs) {
      checkNoKwargs(id, kwargs);
      return new Single();
    },
    makeVec({ numEnvs, maxEpisodeSteps, kwargs }) {
      checkNoKwargs(id, kwargs);
      return new Batched({
        numEnvs,
        maxEpisodeSteps,
        spec: { ...spec, maxEpisodeSteps },
      });
    },
  });
}
