/** Flips of two bits whose host dies when it judges goals and finds a file, which it removes. */
import type { VecEnv } from "@bellman/types";
import { makeVec } from "../../mod.ts";
import type { GroupOptions } from "../group_source.ts";

export default function makeMortal({ numEnvs, file }: GroupOptions): VecEnv {
  const env = makeVec("BitFlip-v0", { numEnvs, kwargs: { bits: 2 } });
  const { computeReward } = env;
  return Object.assign(env, {
    computeReward(...goals: Parameters<NonNullable<typeof computeReward>>) {
      try {
        Deno.removeSync(file as string);
      } catch {
        return computeReward!.apply(env, goals);
      }
      Deno.exit(9);
    },
  });
}
