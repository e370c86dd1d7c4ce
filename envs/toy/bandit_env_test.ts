import { assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import { BanditEnv } from "./bandit_env.ts";

Deno.test("An arm without deviation pays its mean and ends the episode", () => {
  const env = new BanditEnv({ means: [1, -2, 3] });
  for (const arm of [0, 1, 2]) {
    assertEquals(env.reset({ seed: arm }), 0);
    const { reward, terminated, truncated } = env.step(arm);
    assertEquals([reward, terminated, truncated], [
      env.means[arm],
      true,
      false,
    ]);
    assertThrows(() => env.step(arm), Error, "call reset first");
  }
});

Deno.test("Rewards have the mean and deviation that were asked for", () => {
  const env = new BanditEnv({ means: [5], deviation: 2 });
  env.reset({ seed: 0 });
  const rewards = Array.from({ length: 10_000 }, () => {
    const { reward } = env.step(0);
    env.reset();
    return reward;
  });
  const mean = rewards.reduce((a, b) => a + b) / rewards.length;
  const squares = rewards.map((it) => (it - mean) ** 2);
  const variance = squares.reduce((a, b) => a + b) / rewards.length;
  // Five standard errors.
  assertAlmostEquals(mean, 5, 5 * 2 / 100);
  assertAlmostEquals(Math.sqrt(variance), 2, 5 * 2 / Math.sqrt(20_000));
});

Deno.test("Bandits that make no sense are refused", () => {
  for (const means of [[], [NaN], [Infinity]]) {
    assertThrows(() => new BanditEnv({ means }), RangeError, "means");
  }
  for (const deviation of [-1, NaN, Infinity]) {
    assertThrows(() => new BanditEnv({ deviation }), RangeError, "deviation");
  }
  const env = new BanditEnv();
  env.reset({ seed: 0 });
  assertThrows(() => env.step(3), RangeError, "Cannot take action 3");
});

Deno.test("A bandit goes on from a snapshot", () => {
  const play = (env: BanditEnv) =>
    Array.from({ length: 20 }, (_, i) => {
      env.reset();
      return env.step(i % 3).reward;
    });
  const env = new BanditEnv({ deviation: 1 });
  env.reset({ seed: 3 });
  const snapshot = structuredClone(env.save());
  const wanted = play(env);
  const other = new BanditEnv({ deviation: 1 });
  other.load(snapshot);
  assertEquals(play(other), wanted);
});
