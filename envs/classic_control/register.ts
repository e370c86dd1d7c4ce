import type { Env, EnvSpec, VecEnv } from "@bellman/types";
import { register } from "../registry.ts";
import type { BatchedOptions } from "./dynamics.ts";
import { AcrobotEnv, AcrobotVecEnv } from "./acrobot.ts";
import { CartPoleEnv, CartPoleVecEnv } from "./cart_pole.ts";
import { MountainCarEnv, MountainCarVecEnv } from "./mountain_car.ts";
import {
  MountainCarContinuousEnv,
  MountainCarContinuousVecEnv,
} from "./mountain_car_continuous.ts";
import { PendulumEnv, PendulumVecEnv } from "./pendulum.ts";

/** The two forms of an environment. */
export interface Forms {
  single: new () => Env;
  batched: new (options: BatchedOptions) => VecEnv;
}

function checkNoKwargs(id: string, kwargs: object): void {
  const [key] = Object.keys(kwargs);
  if (key === undefined) return;
  throw new TypeError(`Cannot make ${id} with '${key}': it has no options`);
}

/** Makes an environment without options of its own known by name. */
function registerClassic(spec: EnvSpec, forms: Forms): void {
  const { id } = spec;
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

const cartPole = { single: CartPoleEnv, batched: CartPoleVecEnv };

registerClassic({
  id: "CartPole-v0",
  maxEpisodeSteps: 200,
  rewardThreshold: 195,
}, cartPole);
registerClassic({
  id: "CartPole-v1",
  maxEpisodeSteps: 500,
  rewardThreshold: 475,
}, cartPole);
registerClassic({
  id: "MountainCar-v0",
  maxEpisodeSteps: 200,
  rewardThreshold: -110,
}, { single: MountainCarEnv, batched: MountainCarVecEnv });
registerClassic({
  id: "MountainCarContinuous-v0",
  maxEpisodeSteps: 999,
  rewardThreshold: 90,
}, { single: MountainCarContinuousEnv, batched: MountainCarContinuousVecEnv });
registerClassic({
  id: "Acrobot-v1",
  maxEpisodeSteps: 500,
  rewardThreshold: -100,
}, { single: AcrobotEnv, batched: AcrobotVecEnv });
registerClassic({ id: "Pendulum-v1", maxEpisodeSteps: 200 }, {
  single: PendulumEnv,
  batched: PendulumVecEnv,
});
