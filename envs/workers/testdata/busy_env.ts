/** CartPole whose steps take a while, as those of an emulator do. */
import { CART_POLE } from "../../classic_control/cart_pole.ts";
import { DynamicsEnv } from "../../classic_control/dynamics.ts";
import type { SpaceValue, StepResult, VecEnv } from "@bellman/types";
import { SyncVecEnv } from "../../sync_vec_env.ts";
import { Wrapper } from "../../wrappers/wrapper.ts";
import type { EnvSlice } from "../group_hosts.ts";

/** Sorted natively, so that it takes equally long in all threads. */
const NUMBERS = Float64Array.from({ length: 1_000 }, (_, i) => i * 7919 % 1009);

class Busy extends Wrapper {
  #numbers = new Float64Array(NUMBERS.length);

  override step(action: SpaceValue): StepResult {
    this.#numbers.set(NUMBERS);
    this.#numbers.sort();
    return super.step(action);
  }
}

export default function makeBusy({ numEnvs }: EnvSlice): VecEnv {
  return new SyncVecEnv(
    Array.from(
      { length: numEnvs },
      () => () => new Busy(new DynamicsEnv(CART_POLE)),
    ),
  );
}
