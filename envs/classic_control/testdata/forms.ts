import type { BoxArray, Env, Space } from "@bellman/types";
import type { SeededRandom } from "../../random.ts";
import { sample } from "../../spaces/values.ts";
import { AcrobotEnv, AcrobotVecEnv } from "../acrobot.ts";
import { CartPoleEnv, CartPoleVecEnv } from "../cart_pole.ts";
import type {
  BatchedOptions,
  DynamicsEnv,
  DynamicsVecEnv,
} from "../dynamics.ts";
import {
  MountainCarContinuousEnv,
  MountainCarContinuousVecEnv,
  MountainCarEnv,
  MountainCarVecEnv,
} from "../mountain_car.ts";
import { PendulumEnv, PendulumVecEnv } from "../pendulum.ts";

/** Both forms of an environment, as tests use them. */
export interface TestedForms {
  single: new () => DynamicsEnv & Env;
  batched: new (options: BatchedOptions) => DynamicsVecEnv;
}

/** Every environment by its name. */
export const FORMS: Record<string, TestedForms> = {
  "CartPole-v1": { single: CartPoleEnv, batched: CartPoleVecEnv },
  "MountainCar-v0": { single: MountainCarEnv, batched: MountainCarVecEnv },
  "MountainCarContinuous-v0": {
    single: MountainCarContinuousEnv,
    batched: MountainCarContinuousVecEnv,
  },
  "Acrobot-v1": { single: AcrobotEnv, batched: AcrobotVecEnv },
  "Pendulum-v1": { single: PendulumEnv, batched: PendulumVecEnv },
};

/** Random actions for a batch, some of them beyond the limits of a box. */
export function randomActions(
  space: Space,
  random: SeededRandom,
  count: number,
): BoxArray {
  if (space.type === "box") {
    return Float32Array.from({ length: count }, () => 3 * random.normal());
  }
  return Int32Array.from(
    { length: count },
    () => sample(space, random) as number,
  );
}
