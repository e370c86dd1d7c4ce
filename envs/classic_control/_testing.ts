import { sample } from "../space.ts";
import type { Env } from "../env.ts";
import { SeededRandom } from "../random.ts";
import type { BoxArray, Space } from "../space.ts";
import type { Forms } from "./_register_classic.ts";
import { CartPoleEnv } from "./cart_pole_env.ts";
import { CartPoleVecEnv } from "./cart_pole_vec_env.ts";
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
