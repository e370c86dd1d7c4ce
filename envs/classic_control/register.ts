import type { BoxSpace, Env, SpaceValue, VecEnv } from "@bellman/types";
import { register } from "../registry/registry.ts";
import { boundAt } from "../spaces/arrays.ts";
import { box } from "../spaces/constructors.ts";
import {
  TransformObservation,
  VecTransformObservation,
} from "../wrappers/transforms.ts";
import { AcrobotEnv, AcrobotVecEnv } from "./acrobot.ts";
import { CART_POLE, CartPoleEnv, CartPoleVecEnv } from "./cart_pole.ts";
import type { BatchedOptions } from "./dynamics.ts";
import {
  MountainCarContinuousEnv,
  MountainCarContinuousVecEnv,
  MountainCarEnv,
  MountainCarVecEnv,
} from "./mountain_car.ts";
import { PendulumEnv, PendulumVecEnv } from "./pendulum.ts";

/** Position of the cart and angle of the pole: velocities must be remembered. */
function positions(observation: SpaceValue): Float32Array {
  const [position, , angle] = observation as Float32Array;
  return Float32Array.of(position, angle);
}

const { low, high } = CART_POLE.observationSpace as BoxSpace;
const POSITIONS = box({
  low: [boundAt(low, 0), boundAt(low, 2)],
  high: [boundAt(high, 0), boundAt(high, 2)],
});

/** Cart poles without velocities, a task that needs memory. */
class PositionOnlyCartPoleEnv extends TransformObservation {
  constructor() {
    super(new CartPoleEnv(), positions, { space: POSITIONS });
  }
}

class PositionOnlyCartPoleVecEnv extends VecTransformObservation {
  constructor(options: BatchedOptions) {
    super(new CartPoleVecEnv(options), positions, { space: POSITIONS });
  }
}

/** Single and batched form, time limit and reward threshold by id. */
const ENVS: Record<
  string,
  [new () => Env, new (options: BatchedOptions) => VecEnv, number, number?]
> = {
  "CartPole-v0": [CartPoleEnv, CartPoleVecEnv, 200, 195],
  "CartPole-v1": [CartPoleEnv, CartPoleVecEnv, 500, 475],
  "PositionOnlyCartPole-v1": [
    PositionOnlyCartPoleEnv,
    PositionOnlyCartPoleVecEnv,
    500,
    475,
  ],
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
