import { sample } from "../sample.ts";
import type { BoxArray, Env, Space } from "@bellman/types";
import type { SeededRandom } from "../random.ts";
import type { Forms } from "./_register_classic.ts";
import { AcrobotEnv } from "./acrobot_env.ts";
import { AcrobotVecEnv } from "./acrobot_vec_env.ts";
import { CartPoleEnv } from "./cart_pole_env.ts";
import { CartPoleVecEnv } from "./cart_pole_vec_env.ts";
import { MountainCarEnv } from "./mountain_car_env.ts";
import { MountainCarVecEnv } from "./mountain_car_vec_env.ts";
import { MountainCarContinuousEnv } from "./mountain_car_continuous_env.ts";
import { MountainCarContinuousVecEnv } from "./mountain_car_continuous_vec_env.ts";
import { PendulumEnv } from "./pendulum_env.ts";
import { PendulumVecEnv } from "./pendulum_vec_env.ts";
import type { DynamicsEnv } from "./dynamics_env.ts";
import type { BatchedOptions, DynamicsVecEnv } from "./dynamics_vec_env.ts";

/** Both forms of an environment, as tests use them. */
export interface TestedForms extends Forms {
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
