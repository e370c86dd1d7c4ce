/** Each wrapper does to many copies what its single form does to each. */
import type { BoxArray, Env, VecEnv } from "@bellman/types";
import { assertEquals } from "@std/assert";
import { make } from "../mod.ts";
import * as single from "../mod.ts";
import { deriveSeed, SeededRandom } from "../random.ts";
import { readRow } from "../spaces/batch.ts";
import { box } from "../spaces/constructors.ts";
import { sample } from "../spaces/values.ts";
import { SyncVecEnv } from "../sync_vec_env.ts";
import { DictEnv } from "../testdata/dict_env.ts";
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
    one: (env) => new single.ClipReward(env, { low: -3, high: -1 }),
    many: (env) => new single.VecClipReward(env, { low: -3, high: -1 }),
  },
  TransformReward: {
    base: pendulum,
    one: (env) => new single.TransformReward(env, (it) => it * it),
    many: (env) => new single.VecTransformReward(env, (it) => it * it),
  },
  TransformObservation: {
    base: cartPole,
    one: (env) =>
      new single.TransformObservation(env, square.transform, square.options),
    many: (env) =>
      new single.VecTransformObservation(env, square.transform, square.options),
  },
  FlattenObservation: {
    base: () => new DictEnv(),
    one: (env) => new single.FlattenObservation(env),
    many: (env) => new single.VecFlattenObservation(env),
  },
  FrameStack: {
    base: cartPole,
    one: (env) => new single.FrameStack(env, { size: 3 }),
    many: (env) => new single.VecFrameStack(env, { size: 3 }),
  },
  ClipAction: {
    base: pendulum,
    one: (env) => new single.ClipAction(env),
    many: (env) => new single.VecClipAction(env),
  },
  RescaleAction: {
    base: pendulum,
    one: (env) => new single.RescaleAction(env),
    many: (env) => new single.VecRescaleAction(env),
  },
};

for (const [name, { base, one, many }] of Object.entries(PAIRS)) {
  const makeMany = () =>
    many(new SyncVecEnv(Array.from({ length: NUM_ENVS }, () => base)));

  Deno.test(`Vec${name} does to each copy what ${name} does`, () => {
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

  testVecWrapper(`Vec${name}`, makeMany);
}

Deno.test("the single forms of clipping and scaling take the same samples", () => {
  const env = new single.ClipAction(make("Pendulum-v1"));
  env.reset({ seed: 0 });
  const action = sample(env.actionSpace, new SeededRandom(0)) as BoxArray;
  assertEquals(Number.isFinite(env.step(action).reward), true);
});
