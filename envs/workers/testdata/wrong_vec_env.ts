import { makeVec } from "../../mod.ts";
import type { VecEnv, VecStep } from "@bellman/types";
import { VecEnvWrapper } from "../../wrappers/env_wrapper.ts";
import type { GroupOptions } from "../group_source.ts";

/** Steps of which a part is wrong, as it reaches this thread unchecked. */
class WrongVecEnv extends VecEnvWrapper {
  #parts: Partial<VecStep>;

  constructor(env: VecEnv, parts: Partial<VecStep>) {
    super(env);
    this.#parts = parts;
  }

  override step(actions: Int32Array): VecStep {
    return { ...super.step(actions), ...this.#parts };
  }
}

export default function makeWrong(
  { numEnvs, first, parts }: GroupOptions,
): VecEnv {
  const env = makeVec("CartPole-v1", { numEnvs, recordEpisodes: false });
  return new WrongVecEnv(env, first === 0 ? {} : parts as Partial<VecStep>);
}
