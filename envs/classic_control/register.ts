import type { Env, VecEnv } from "@bellman/types";
import { register } from "../registry/registry.ts";
import { AcrobotEnv, AcrobotVecEnv } from "./acrobot.ts";
import { CartPoleEnv, CartPoleVecEnv } from "./cart_pole.ts";
import type { BatchedOptions } from "./dynamics.ts";
import { MountainCarEnv, MountainCarVecEnv } from "./mountain_car.ts";
import {
  MountainCarContinuousEnv,
  MountainCarContinuousVecEnv,
} from "./mountain_car_continuous.ts";
import { PendulumEnv, PendulumVecEnv } from "./pendulum.ts";

/** Both forms of an environment. */
export interface Forms {
  single: new () => Env;
  batched: new (options: BatchedOptions) => VecEnv;
}

const CART_POLE = { single: CartPoleEnv, batched: CartPoleVecEnv };
const MOUNTAIN_CAR = { single: MountainCarEnv, batched: MountainCarVecEnv };
const MOUNTAIN_CAR_CONTINUOUS = {
  single: MountainCarContinuousEnv,
  batched: MountainCarContinuousVecEnv,
};
const ACROBOT = { single: AcrobotEnv, batched: AcrobotVecEnv };
const PENDULUM = { single: PendulumEnv, batched: PendulumVecEnv };

/** Forms, time limit and reward threshold of each environment. */
const ENVS: [id: string, Forms, limit: number, threshold?: number][] = [
  ["CartPole-v0", CART_POLE, 200, 195],
  ["CartPole-v1", CART_POLE, 500, 475],
  ["MountainCar-v0", MOUNTAIN_CAR, 200, -110],
  ["MountainCarContinuous-v0", MOUNTAIN_CAR_CONTINUOUS, 999, 90],
  ["Acrobot-v1", ACROBOT, 500, -100],
  ["Pendulum-v1", PENDULUM, 200],
];

function checkNoKwargs(id: string, kwargs: object): void {
  const [key] = Object.keys(kwargs);
  if (key === undefined) return;
  throw new TypeError(`Cannot make ${id} with '${key}': it has no options`);
}

for (const [id, forms, limit, rewardThreshold] of ENVS) {
  const spec = { id, maxEpisodeSteps: limit, rewardThreshold };
  register({
    ...spec,
    make(kwargs) {
      checkNoKwargs(id, kwargs);
      return new forms.single();
    },
    makeVec({ numEnvs, maxEpisodeSteps, kwargs }) {
      checkNoKwargs(id, kwargs);
      return new forms.batched({
        numEnvs,
        maxEpisodeSteps,
        spec: { ...spec, maxEpisodeSteps },
      });
    },
  });
}
