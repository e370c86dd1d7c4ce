import { make } from "../../mod.ts";
import { SyncVecEnv } from "../../sync_vec_env.ts";
import { MaskedBy } from "../../testdata/masked_by.ts";
import type { VecEnv, VecStep } from "@bellman/types";
import { Wrapper } from "../../wrappers/wrapper.ts";
import type { GroupOptions } from "../group_source.ts";

/** Steps of which a part is wrong, as it reaches this thread unchecked. */
class WrongVecEnv extends Wrapper<VecEnv> {
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
  { numEnvs, first, parts, masked }: GroupOptions,
): VecEnv {
  const single = () => make("CartPole-v1");
  const all = () => new MaskedBy(single(), () => Uint8Array.of(1, 1));
  const env = new SyncVecEnv(Array(numEnvs).fill(masked ? all : single));
  return new WrongVecEnv(env, first === 0 ? {} : parts as Partial<VecStep>);
}
