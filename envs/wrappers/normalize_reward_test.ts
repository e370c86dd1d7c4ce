import { assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import { make } from "../mod.ts";
import { playEnv } from "../testdata/play.ts";
import { testSnapshot } from "../testdata/wrapper_contract.ts";
import { ChainEnv } from "../toy/chain_env.ts";
import { NormalizeReward } from "./normalize_reward.ts";
import { TimeLimit } from "./time_limit.ts";

Deno.test("rewards are divided by the deviation of the discounted return", () => {
  const env = new NormalizeReward(new ChainEnv({ length: 50 }), {
    gamma: 0.5,
    clip: Infinity,
  });
  env.statistics.count = 0;
  env.reset({ seed: 0 });
  const returns: number[] = [];
  for (let i = 0, sum = 0; i < 20; i++) {
    sum = 0.5 * sum + 1;
    returns.push(sum);
    const mean = returns.reduce((a, b) => a + b) / returns.length;
    const variance = returns.reduce((a, b) => a + (b - mean) ** 2, 0) /
      returns.length;
    const expected = 1 / Math.sqrt(variance + 1e-8);
    assertAlmostEquals(env.step(0).reward, expected, 1e-6 * expected);
  }
});

for (const kind of ["terminated", "truncated"]) {
  Deno.test(`the return starts anew after an episode that was ${kind}`, () => {
    const chain = kind === "terminated"
      ? new ChainEnv({ length: 2 })
      : new TimeLimit(new ChainEnv({ length: 9 }), 2);
    const env = new NormalizeReward(chain, { gamma: 1 });
    const { statistics } = env;
    statistics.count = 0;
    // Returns of 1 and 2, episode after episode: mean 1.5, variance 0.25.
    for (let episode = 0; episode < 4; episode++) {
      env.reset({ seed: 0 });
      env.step(0);
      env.step(0);
    }
    assertAlmostEquals(statistics.mean[0], 1.5, 1e-9);
    assertAlmostEquals(statistics.variance[0], 0.25, 1e-9);
  });
}

Deno.test("frozen statistics do not change", () => {
  const env = new NormalizeReward(make("Pendulum-v1"), { training: false });
  const before = env.statistics.save();
  env.reset({ seed: 0 });
  playEnv(env, 20);
  assertEquals(env.statistics.save(), before);
});

testSnapshot("NormalizeReward", () => new NormalizeReward(make("Pendulum-v1")));

Deno.test("settings that cannot be are refused", () => {
  for (
    const [name, value] of [["clip", -1], ["gamma", 5], [
      "epsilon",
      NaN,
    ]] as const
  ) {
    assertThrows(
      () => new NormalizeReward(new ChainEnv(), { [name]: value }),
      RangeError,
      `Cannot normalize rewards with ${name} ${value}: expected`,
    );
  }
});
