/** Each wrapper does to many copies what it does to each. */
import type { Env, VecEnv } from "@bellman/types";
import { assertEquals, assertStrictEquals } from "@std/assert";
import { make } from "../mod.ts";
import * as wrappers from "../mod.ts";
import { deriveSeed, SeededRandom } from "../random.ts";
import { readRow } from "../spaces/batch.ts";
import { box } from "../spaces/constructors.ts";
import { sample } from "../spaces/values.ts";
import { SyncVecEnv } from "../sync_vec_env.ts";
import { DictEnv } from "../testdata/dict_env.ts";
import { MaskedBy } from "../testdata/masked_by.ts";
import { randomActions } from "../testdata/play.ts";
import { testVecWrapper } from "../testdata/wrapper_contract.ts";

const NUM_ENVS = 3;

interface Pair {
  base: () => Env;
  one: (env: Env) => Env;
  many: (env: VecEnv) => VecEnv;
}

const square = {
  transform: (it: unknown) => (it as Float32Array).map((x) => x * x),
  options: { space: box({ low: 0, shape: [4] }) },
};

const cartPole = () => make("CartPole-v1", { maxEpisodeSteps: 12 });
const pendulum = () => make("Pendulum-v1", { maxEpisodeSteps: 12 });

const PAIRS: Record<string, Pair> = {
  ClipReward: {
    base: pendulum,
    one: (env) => new wrappers.ClipReward(env, { low: -3, high: -1 }),
    many: (env) => new wrappers.ClipReward(env, { low: -3, high: -1 }),
  },
  TransformReward: {
    base: pendulum,
    one: (env) => new wrappers.TransformReward(env, (it) => it * it),
    many: (env) => new wrappers.TransformReward(env, (it) => it * it),
  },
  TransformObservation: {
    base: cartPole,
    one: (env) =>
      new wrappers.TransformObservation(env, square.transform, square.options),
    many: (env) =>
      new wrappers.TransformObservation(env, square.transform, square.options),
  },
  FlattenObservation: {
    base: () => new DictEnv(),
    one: (env) => new wrappers.FlattenObservation(env),
    many: (env) => new wrappers.FlattenObservation(env),
  },
  FrameStack: {
    base: cartPole,
    one: (env) => new wrappers.FrameStack(env, { size: 3 }),
    many: (env) => new wrappers.FrameStack(env, { size: 3 }),
  },
  Recorder: {
    base: cartPole,
    one: (env) => new wrappers.Recorder(env),
    many: (env) => new wrappers.Recorder(env),
  },
  ClipAction: {
    base: pendulum,
    one: (env) => new wrappers.ClipAction(env),
    many: (env) => new wrappers.ClipAction(env),
  },
  RescaleAction: {
    base: pendulum,
    one: (env) => new wrappers.RescaleAction(env),
    many: (env) => new wrappers.RescaleAction(env),
  },
};

for (const [name, { base, one, many }] of Object.entries(PAIRS)) {
  const makeMany = () =>
    many(new SyncVecEnv(Array.from({ length: NUM_ENVS }, () => base)));

  Deno.test(`${name} does to each copy what it does to a single one`, () => {
    const vec = makeMany();
    const singles = Array.from({ length: NUM_ENVS }, () => one(base()));
    assertEquals(vec.observationSpace, singles[0].observationSpace);
    assertEquals(vec.actionSpace, singles[0].actionSpace);
    const space = vec.observationSpace;
    const first = vec.reset({ seed: 4 });
    singles.forEach((env, row) =>
      assertEquals(
        readRow(space, { batch: first, row }),
        env.reset({ seed: deriveSeed(4, row) }),
      )
    );
    const random = new SeededRandom(0);
    for (let i = 0; i < 40; i++) {
      const actions = randomActions(vec, random);
      const step = vec.step(actions);
      singles.forEach((env, row) => {
        const action = readRow(vec.actionSpace, { batch: actions, row });
        const result = env.step(action);
        assertEquals(step.rewards[row], result.reward);
        assertEquals(step.terminated[row], Number(result.terminated));
        assertEquals(step.truncated[row], Number(result.truncated));
        let { observation } = result;
        if (result.terminated || result.truncated) {
          const batch = step.finalObservations;
          assertEquals(readRow(space, { batch, row }), observation);
          observation = env.reset();
        }
        assertEquals(
          readRow(space, { batch: step.observations, row }),
          observation,
        );
      });
    }
  });

  testVecWrapper(`${name} of several`, makeMany);
}

const masked = (): Env =>
  new MaskedBy(
    cartPole(),
    // In every third step one action is allowed.
    (step) => Uint8Array.of(1, step % 3 === 2 ? 0 : 1),
  );

/** All wrappers of discrete actions, around masked ones, alone and of several. */
const MASKED: Record<string, [one: Pair["one"], many?: Pair["many"]]> = {
  Wrapper: [
    (env) => new wrappers.Wrapper(env),
    (env) => new wrappers.Wrapper(env),
  ],
  TimeLimit: [(env) => new wrappers.TimeLimit(env, 7)],
  RecordInfoStatistics: [(env) => new wrappers.RecordInfoStatistics(env, [])],
  RecordEpisodeStatistics: [
    (env) => new wrappers.RecordEpisodeStatistics(env),
    (env) => new wrappers.RecordEpisodeStatistics(env),
  ],
  NormalizeObservation: [
    (env) => new wrappers.NormalizeObservation(env),
    (env) => new wrappers.NormalizeObservation(env),
  ],
  NormalizeReward: [
    (env) => new wrappers.NormalizeReward(env),
    (env) => new wrappers.NormalizeReward(env),
  ],
};
for (const [name, { one, many, base }] of Object.entries(PAIRS)) {
  if (base !== pendulum || name.endsWith("Reward")) MASKED[name] = [one, many];
}

for (const [name, [one, many = (it: VecEnv) => it]] of Object.entries(MASKED)) {
  Deno.test(`${name} passes masks on, and makes none`, () => {
    const bare = new SyncVecEnv([masked, masked]);
    const inside = new SyncVecEnv([() => one(masked()), () => one(masked())]);
    const around = many(new SyncVecEnv([masked, masked]));
    const envs = name === "TimeLimit" ? [inside] : [bare, inside, around];
    for (const env of envs) {
      assertEquals(env.actionMasks, Uint8Array.of(1, 1, 1, 1));
      env.reset({ seed: 1 });
    }
    const random = new SeededRandom(0);
    for (let i = 0; i < 30; i++) {
      const actions = randomActions(inside, random);
      const steps = envs.map((env) => env.step(actions));
      envs.forEach((env, e) => {
        assertStrictEquals(steps[e].actionMasks, env.actionMasks);
        assertEquals(steps[e].actionMasks, steps[0].actionMasks);
        assertEquals(steps[e].finalActionMasks, steps[0].finalActionMasks);
      });
    }
    const last = envs.at(-1)!, masks = last.actionMasks!;
    while (!masks.includes(0)) last.step(randomActions(last, random));
    const shown = masks.slice(), snapshot = last.save();
    last.reset();
    masks.fill(0);
    last.load(snapshot);
    assertEquals(masks, shown);
    const plain = () => one(cartPole());
    assertEquals(plain().actionMasks, undefined);
    const none = many(new SyncVecEnv([plain]));
    assertEquals(none.actionMasks, undefined);
    none.reset({ seed: 0 });
    assertEquals(none.step(Int32Array.of(0)).actionMasks, undefined);
  });
}

Deno.test("actions without bounds can be sampled", () => {
  const env = new wrappers.ClipAction(make("Pendulum-v1"));
  env.reset({ seed: 0 });
  const action = sample(env.actionSpace, new SeededRandom(0));
  assertEquals(Number.isFinite(env.step(action).reward), true);
});
