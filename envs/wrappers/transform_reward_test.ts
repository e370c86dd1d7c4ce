import { assertEquals } from "@std/assert";
import { ChainEnv } from "../toy/chain_env.ts";
import { TransformReward } from "./transform_reward.ts";

Deno.test("rewards are transformed, the rest is left", () => {
  const plain = new ChainEnv({ length: 2 });
  const env = new TransformReward(new ChainEnv({ length: 2 }), (it) => 3 - it);
  plain.reset({ seed: 0 });
  env.reset({ seed: 0 });
  assertEquals(env.step(0), { ...plain.step(0), reward: 2 });
});
