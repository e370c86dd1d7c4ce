import type { BoxSpace, DiscreteSpace } from "@bellman/types";
import type { SeededRandom } from "../../random.ts";
import { sample } from "../../spaces/values.ts";
import { ACROBOT } from "../acrobot.ts";
import { CART_POLE } from "../cart_pole.ts";
import type { Dynamics } from "../dynamics.ts";
import { MOUNTAIN_CAR, MOUNTAIN_CAR_CONTINUOUS } from "../mountain_car.ts";
import { PENDULUM } from "../pendulum.ts";

/** Rules of every environment by its name. */
export const DYNAMICS: Record<string, Dynamics> = {
  "CartPole-v1": CART_POLE,
  "MountainCar-v0": MOUNTAIN_CAR,
  "MountainCarContinuous-v0": MOUNTAIN_CAR_CONTINUOUS,
  "Acrobot-v1": ACROBOT,
  "Pendulum-v1": PENDULUM,
};

/** Random actions for a batch, some of them beyond the limits of a box. */
export function randomActions(
  space: DiscreteSpace | BoxSpace,
  random: SeededRandom,
  count: number,
): Float32Array | Int32Array {
  if (space.type === "box") {
    return Float32Array.from({ length: count }, () => 3 * random.normal());
  }
  return Int32Array.from({ length: count }, () => sample(space, random));
}
