import { assertEquals, assertThrows } from "@std/assert";
import { EnvDataError } from "../env_data_error.ts";
import { makeVec } from "../mod.ts";
import { ChainEnv } from "../toy/chain_env.ts";
import {
  ClipReward,
  TransformReward,
  VecClipReward,
  VecTransformReward,
} from "./transform_reward.ts";

Deno.test("rewards are transformed, the rest is left", () => {
  const plain = new ChainEnv({ length: 2 });
  const env = new TransformReward(new ChainEnv({ length: 2 }), (it) => 3 - it);
  plain.reset({ seed: 0 });
  env.reset({ seed: 0 });
  assertEquals(env.step(0), { ...plain.step(0), reward: 2 });
});

function clipped(reward: number, range = {}): number {
  const env = new ClipReward(
    new TransformReward(new ChainEnv(), () => reward),
    range,
  );
  env.reset({ seed: 0 });
  return env.step(0).reward;
}

Deno.test("rewards are clipped to the range, -1 to 1 without one", () => {
  assertEquals([-7, -0.5, 0, 7].map((it) => clipped(it)), [-1, -0.5, 0, 1]);
  assertEquals(clipped(7, { low: 0, high: 5 }), 5);
});

Deno.test("a range upside down is refused", () => {
  assertThrows(() => clipped(0, { low: 2 }), RangeError, "from 2 to 1");
});
Deno.test("what is no finite number is not clipped to one", () => {
  const odd = [NaN, Infinity, -Infinity];
  for (const reward of [...odd, "1", undefined, 1n] as number[]) {
    assertThrows(() => clipped(reward), EnvDataError, "the reward");
  }
  for (const reward of odd) {
    const inside = makeVec("CartPole-v1", { numEnvs: 1 });
    const env = new VecClipReward(new VecTransformReward(inside, () => reward));
    env.reset({ seed: 0 });
    assertEquals([...env.step(Int32Array.of(0)).rewards], [reward]);
  }
});
