import { assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import { TimeLimit } from "../wrappers/time_limit.ts";
import { ChainEnv, chainValue } from "./chain_env.ts";

Deno.test("A chain's value is the discounted sum of its rewards", () => {
  const gamma = 0.9, length = 7;
  const env = new ChainEnv({ length });
  env.reset({ seed: 0 });
  const positions = [0], rewards: number[] = [];
  for (let ended = false; !ended;) {
    const { observation, reward, terminated } = env.step(0);
    positions.push(observation);
    rewards.push(reward);
    ended = terminated;
  }
  assertEquals(positions, [0, 1, 2, 3, 4, 5, 6, 7]);
  let value = 0;
  for (let t = length - 1; t >= 0; t--) {
    value = rewards[t] + gamma * value;
    assertAlmostEquals(chainValue(t, { length, gamma }), value);
  }
  assertEquals(chainValue(length, { length, gamma }), 0);
  assertEquals(chainValue(2, { length, gamma: 1 }), 5);
});

Deno.test("An endless chain is only cut off by a time limit", () => {
  const env = new TimeLimit(new ChainEnv({ length: 3, endless: true }), 5);
  env.reset({ seed: 0 });
  const seen = Array.from({ length: 5 }, () => env.step(1));
  assertEquals(seen.map((it) => it.observation), [1, 2, 0, 1, 2]);
  assertEquals(seen.map((it) => it.terminated), Array(5).fill(false));
  assertEquals(seen.map((it) => it.truncated), [...Array(4).fill(false), true]);
});

Deno.test("An endless chain's value satisfies its own equation", () => {
  const value = chainValue(1, { endless: true, gamma: 0.8 });
  assertAlmostEquals(value, 1 + 0.8 * value);
});

Deno.test("A chain of no length is refused", () => {
  for (const length of [0, 1.5, NaN]) {
    assertThrows(() => new ChainEnv({ length }), RangeError, `of ${length}`);
  }
});

Deno.test("A chain is drawn with its position in red", () => {
  const env = new ChainEnv({ length: 3, endless: true });
  env.reset({ seed: 0 });
  env.step(0);
  const { width, height, data } = env.render({ width: 90, height: 45 });
  const at = (x: number) => [...data.slice((20 * 90 + x) * 3).slice(0, 3)];
  assertEquals([width, height, data.length], [90, 45, 90 * 45 * 3]);
  assertEquals(at(45), [204, 77, 77]);
  assertEquals(at(15), [160, 170, 190]);
});
