import type { Space, SpaceValue } from "@bellman/types";
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertNotEquals,
  assertThrows,
} from "@std/assert";
import { checkEnv } from "../check_env.ts";
import { SeededRandom } from "../random.ts";
import { envSpec, make, makeVec } from "../registry/registry.ts";
import {
  box,
  dict,
  discrete,
  multiBinary,
  multiDiscrete,
} from "../spaces/constructors.ts";
import { contains, sample } from "../spaces/values.ts";
import { TimeLimit } from "../wrappers/time_limit.ts";
import { BanditEnv, ChainEnv, IdentityEnv } from "./environments.ts";
import "./environments.ts";

Deno.test("An arm without deviation pays its mean and ends the episode", () => {
  const means = [1, -2, 3], env = new BanditEnv({ means });
  for (const arm of [0, 1, 2]) {
    assertEquals(env.reset({ seed: arm }), 0);
    const { reward, terminated, truncated } = env.step(arm);
    assertEquals([reward, terminated, truncated], [means[arm], true, false]);
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

Deno.test("A chain pays for each step and ends after the last one", () => {
  const env = new ChainEnv({ length: 3 });
  env.reset({ seed: 0 });
  const seen = [0, 1, 0].map((action) => env.step(action));
  assertEquals(seen.map((it) => it.observation), [1, 2, 3]);
  assertEquals(seen.map((it) => it.reward), [1, 1, 1]);
  assertEquals(seen.map((it) => it.terminated), [false, false, true]);
});

Deno.test("An endless chain is only cut off by a time limit", () => {
  const env = new TimeLimit(new ChainEnv({ length: 3, endless: true }), 5);
  env.reset({ seed: 0 });
  const seen = Array.from({ length: 5 }, () => env.step(1));
  assertEquals(seen.map((it) => it.observation), [1, 2, 0, 1, 2]);
  assertEquals(seen.map((it) => it.terminated), Array(5).fill(false));
  assertEquals(seen.map((it) => it.truncated), [...Array(4).fill(false), true]);
});

Deno.test("A chain of no length is refused", () => {
  for (const length of [0, 1.5, NaN]) {
    assertThrows(
      () => new ChainEnv({ length }),
      RangeError,
      `length ${length}`,
    );
  }
});

const SPACES = [
  discrete(4),
  discrete(3, { start: -1 }),
  multiDiscrete([3, 4]),
  multiBinary(5),
  box({ low: -1, high: 1, shape: [3] }),
];

for (const actionSpace of SPACES) {
  const name = JSON.stringify(actionSpace);

  Deno.test(`${name}: giving back what is shown pays best`, () => {
    const env = new IdentityEnv({ actionSpace });
    let shown = env.reset({ seed: 0 });
    const first = shown;
    let changes = 0;
    for (let i = 0; i < 50; i++) {
      const result = env.step(shown);
      const isBox = actionSpace.type === "box";
      assertEquals(result.reward, isBox ? -0 : 1);
      assertEquals([result.terminated, result.truncated], [false, false]);
      assert(contains(actionSpace, result.observation));
      if (String(result.observation) !== String(shown)) changes++;
      shown = result.observation;
    }
    assert(changes > 20);
    assertEquals(env.reset({ seed: 0 }), first);
  });

  Deno.test(`${name}: goes on from a snapshot`, () => {
    const env = new IdentityEnv({ actionSpace });
    let shown = env.reset({ seed: 1 });
    const snapshot = structuredClone(env.save());
    const play = (it: IdentityEnv, from: SpaceValue) =>
      Array.from({ length: 20 }, () => {
        const result = it.step(from);
        from = result.observation;
        return result;
      });
    const wanted = play(env, shown);
    const other = new IdentityEnv({ actionSpace });
    other.load(snapshot);
    assertEquals(play(other, shown), wanted);
    shown = other.reset({ seed: 1 });
    assertEquals(other.render({ width: 40, height: 20 }).data.length, 2400);
  });
}

/** Mean reward of random actions with masks, and of those drawn without. */
function meanRewards(actionSpace: Space): [masked: number, unmasked: number] {
  const means = [true, false].map((obeys) => {
    const env = new IdentityEnv({ actionSpace, masked: true });
    const random = new SeededRandom(2);
    env.reset({ seed: 1 });
    let sum = 0;
    for (let i = 0; i < 20_000; i++) {
      const masks = obeys ? env.actionMasks!() : undefined;
      sum += env.step(sample(actionSpace, random, masks)).reward;
    }
    return sum / 20_000;
  });
  return means as [number, number];
}

Deno.test("Masked random actions, and others, have the values that are known", () => {
  // Five standard errors of rewards of a deviation of at most 1.
  const slack = 5 / Math.sqrt(20_000),
    part = (n: number) => 2 * (1 - 2 ** -n) / n;
  const [masked, unmasked] = meanRewards(discrete(4, { start: 2 }));
  assertAlmostEquals(masked, part(4), slack);
  assertAlmostEquals(unmasked, -1 / 8, slack);
  assertAlmostEquals(
    meanRewards(multiDiscrete([3, 4]))[0],
    part(3) * part(4),
    slack,
  );
  assertAlmostEquals(meanRewards(multiBinary(3))[0], 0.75 ** 3, slack);
});

Deno.test("Masks are kept with the state, and only where there are some", () => {
  const env = make("Identity-v0", { kwargs: { masked: true } });
  checkEnv(env);
  env.reset({ seed: 4 });
  const snapshot = structuredClone(env.save()),
    masks = env.actionMasks!().slice();
  env.reset({ seed: 5 });
  env.load(snapshot);
  assertEquals(env.actionMasks!(), masks);
  const plain = new IdentityEnv();
  assertEquals(plain.actionMasks, undefined);
  assert(!JSON.stringify(plain.save()).includes("masks"));
});

Deno.test("Another action pays less", () => {
  const env = new IdentityEnv({ actionSpace: discrete(4) });
  const shown = env.reset({ seed: 0 }) as number;
  assertEquals(env.step((shown + 1) % 4).reward, 0);
  const bits = new IdentityEnv({ actionSpace: multiBinary(2) });
  const pair = bits.reset({ seed: 0 }) as Uint8Array;
  assertEquals(bits.step(Uint8Array.of(pair[0], 1 - pair[1])).reward, 0);
});

Deno.test("A box pays minus the squared distance", () => {
  const env = new IdentityEnv({ actionSpace: SPACES[4] });
  const shown = env.reset({ seed: 0 }) as Float32Array;
  const off = shown.map((it, i) => it + [0.5, -0.25, 0][i]);
  assertAlmostEquals(env.step(off).reward, -0.3125, 1e-6);
});

Deno.test("What the caller does to an observation changes nothing", () => {
  const env = new IdentityEnv({ actionSpace: SPACES[4] });
  const shown = env.reset({ seed: 0 }) as Float32Array;
  const given = shown.slice();
  shown.fill(1);
  assertNotEquals(shown, given);
  assertEquals(env.step(given).reward, -0);
});

Deno.test("What does not fit is refused", () => {
  assertThrows(
    () => new IdentityEnv({ actionSpace: dict({ a: discrete(2) }) }),
    TypeError,
    "of a dict space",
  );
  const env = new IdentityEnv();
  assertThrows(() => env.step(0), Error, "call reset first");
});

Deno.test("Toy environments are made by name with their options", () => {
  assertEquals(envSpec("Identity-v0").maxEpisodeSteps, 100);
  const actionSpace = box({ low: -1, high: 1, shape: [2] });
  const kwargs = JSON.parse(JSON.stringify({ actionSpace }));
  assertEquals(make("Identity-v0", { kwargs }).actionSpace, actionSpace);
  const bandit = make("Bandit-v0", { kwargs: { means: [1, 2] } });
  bandit.reset({ seed: 0 });
  assertEquals(bandit.step(1).reward, 2);
  const chain = makeVec("Chain-v0", { numEnvs: 2, kwargs: { length: 1 } });
  chain.reset({ seed: 0 });
  assertEquals([...chain.step(Int32Array.of(0, 0)).terminated], [1, 1]);
});

Deno.test("Options that make no sense are refused", () => {
  const cases: [string, Record<string, unknown>, string][] = [
    [
      "Chain-v0",
      { lenght: 3 },
      "option 'lenght' of a chain: did you mean 'length'?",
    ],
    ["Chain-v0", { length: "3" }, 'with length "3": expected a whole number'],
    ["Chain-v0", { length: -3 }, "with length -3: expected a whole number"],
    ["Chain-v0", { endless: 1 }, "with endless 1: expected true or false"],
    [
      "Bandit-v0",
      { means: 1 },
      "with means 1: expected a list of at least one number",
    ],
    ["Identity-v0", { masked: 1 }, "with masked 1: expected true or false"],
    ["Identity-v0", { actionSpace: 4 }, "with actionSpace 4: expected a space"],
    ["Identity-v0", { actionSpace: { type: "discrete", n: 0 } }, "of 0"],
  ];
  for (const [id, kwargs, message] of cases) {
    assertThrows(() => make(id, { kwargs }), Error, message);
  }
});
