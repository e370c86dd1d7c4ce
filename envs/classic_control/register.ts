import { checkOptions } from "@bellman/files/options";
import { register } from "../registry/registry.ts";
import { ACROBOT } from "./acrobot.ts";
import { CART_POLE, POSITION_ONLY_CART_POLE } from "./cart_pole.ts";
import { type Dynamics, DynamicsEnv, DynamicsVecEnv } from "./dynamics.ts";
import { MOUNTAIN_CAR, MOUNTAIN_CAR_CONTINUOUS } from "./mountain_car.ts";
import { PENDULUM } from "./pendulum.ts";

/** Rules, time limit and reward threshold by id. */
const ENVS: Record<string, [Dynamics, limit: number, threshold?: number]> = {
  "CartPole-v0": [CART_POLE, 200, 195],
  "CartPole-v1": [CART_POLE, 500, 475],
  "PositionOnlyCartPole-v1": [POSITION_ONLY_CART_POLE, 500, 475],
  "MountainCar-v0": [MOUNTAIN_CAR, 200, -110],
  "MountainCarContinuous-v0": [MOUNTAIN_CAR_CONTINUOUS, 999, 90],
  "Acrobot-v1": [ACROBOT, 500, -100],
  "Pendulum-v1": [PENDULUM, 200],
};

for (const [id, entry] of Object.entries(ENVS)) {
  const [dynamics, maxEpisodeSteps, rewardThreshold] = entry;
  const spec = { id, maxEpisodeSteps, rewardThreshold };
  register({
    ...spec,
    make(kwargs) {
      checkOptions(id, kwargs, {});
      return new DynamicsEnv(dynamics);
    },
    makeVec({ numEnvs, maxEpisodeSteps, kwargs }) {
      checkOptions(id, kwargs, {});
      return new DynamicsVecEnv(dynamics, {
        numEnvs,
        maxEpisodeSteps,
        spec: { ...spec, maxEpisodeSteps },
      });
    },
  });
}
