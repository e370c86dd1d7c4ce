import type { Batch, Env, Episode, SpaceValue, VecEnv } from "@bellman/types";
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { make } from "../mod.ts";
import { deriveSeed, SeededRandom } from "../random.ts";
import { readRow } from "../spaces/batch.ts";
import { discrete, multiDiscrete } from "../spaces/constructors.ts";
import { SyncVecEnv } from "../sync_vec_env.ts";
import { DictEnv } from "../testdata/dict_env.ts";
import { MaskedBy } from "../testdata/masked_by.ts";
import { playEnv, playVec, randomActions } from "../testdata/play.ts";
import { testSnapshot } from "../testdata/wrapper_contract.ts";
import { Recorder } from "./recorder.ts";
import { ChainEnv } from "../toy/environments.ts";
import { TimeLimit } from "./time_limit.ts";
import { TransformObservation } from "./transforms.ts";
import { Wrapper } from "./wrapper.ts";

const cartPole = (maxEpisodeSteps = 12) =>
  make("CartPole-v1", { maxEpisodeSteps }) as Env;
const masked = () =>
  new MaskedBy(cartPole(), (step) => Uint8Array.of(1, step % 3 === 2 ? 0 : 1));
const dicts = () => new TimeLimit(new DictEnv(), 2);

const MAKERS: Record<string, () => Env> = { cartPole, masked, dicts };

const numbers = (value: SpaceValue): number[] =>
  typeof value === "number" ? [value] : [...value as Float32Array];

/** Lays values of an episode out, side by side. */
function flat(values: readonly SpaceValue[]): unknown {
  const [first] = values;
  if (typeof first === "number" || ArrayBuffer.isView(first)) {
    return values.flatMap(numbers);
  }
  const keys = Object.keys(first);
  return Object.fromEntries(keys.map((key) => [
    key,
    flat(values.map((it) => (it as Record<string, SpaceValue>)[key])),
  ]));
}

const plain = (values: unknown): unknown =>
  ArrayBuffer.isView(values) ? [...values as Float32Array] : Object.fromEntries(
    Object.entries(values as object).map(([key, it]) => [key, plain(it)]),
  );

/** Plays one row by hand, as the recorder should have it. */
function record(
  env: Env,
  seed: number,
  actions: readonly SpaceValue[],
): [end: number, unknown][] {
  const episodes: [number, unknown][] = [];
  const masks = () => [...env.actionMasks?.() ?? []];
  const begin = (options?: { seed: number }) => ({
    observations: [env.reset(options)],
    actions: [] as SpaceValue[],
    rewards: [] as number[],
    masks: masks(),
    seed: options?.seed,
  });
  let running = begin({ seed });
  actions.forEach((action, step) => {
    const { observation, reward, terminated, truncated } = env.step(action);
    running.actions.push(action);
    running.rewards.push(reward);
    running.observations.push(observation);
    running.masks.push(...masks());
    if (!terminated && !truncated) return;
    const none = running.rewards.slice(1).map(() => 0);
    episodes.push([step, {
      observations: flat(running.observations),
      actions: flat(running.actions),
      rewards: running.rewards,
      terminations: [...none, Number(terminated)],
      truncations: [...none, Number(truncated)],
      ...env.actionMasks && { actionMasks: running.masks },
      ...running.seed !== undefined && { seed: running.seed },
    }]);
    running = begin();
  });
  return episodes;
}

const asPlain = (episode: Episode) =>
  Object.fromEntries(
    Object.entries(episode).map(([name, it]) => [
      name,
      typeof it === "number" ? it : plain(it),
    ]),
  );

for (const [name, maker] of Object.entries(MAKERS)) {
  Deno.test(`episodes of ${name} are those of single environments, also after a restart`, () => {
    fc.assert(
      fc.property(fc.nat(20), fc.nat(60), fc.nat(60), (seed, first, more) => {
        const vec = (): Recorder<VecEnv> =>
          new Recorder(new SyncVecEnv([maker, maker, maker]) as VecEnv);
        let env = vec();
        env.reset({ seed });
        const random = new SeededRandom(seed);
        const played: Batch[] = [];
        const episodes: Episode[] = [];
        const play = (steps: number) => {
          for (let i = 0; i < steps; i++) {
            played.push(randomActions(env, random));
            env.step(played.at(-1)!);
          }
          episodes.push(...env.episodes.splice(0));
        };
        play(first);
        const snapshot = env.save();
        env = vec();
        env.load(snapshot);
        play(more);
        const wanted = [0, 1, 2].flatMap((row) => {
          const actions = played.map((batch) =>
            readRow(env.actionSpace, { batch, row })
          );
          return record(maker(), deriveSeed(seed, row), actions);
        }).sort(([a], [b]) => a - b).map(([, it]) => it);
        assertEquals(episodes.map(asPlain), wanted);
      }),
      { numRuns: 30 },
    );
  });

  Deno.test(`recording changes nothing of ${name}`, () => {
    const bare = new SyncVecEnv([maker, maker]);
    const recorded = new Recorder(new SyncVecEnv([maker, maker]));
    bare.reset({ seed: 2 });
    recorded.reset({ seed: 2 });
    assertEquals(playVec(recorded, 100), playVec(bare, 100));
    const [one, other] = [maker(), new Recorder(maker())];
    one.reset({ seed: 2 });
    other.reset({ seed: 2 });
    assertEquals(playEnv(other, 100), playEnv(one, 100));
    assert(other.episodes.length > 5);
  });

  testSnapshot(`Recorder of ${name}`, () => new Recorder(maker()));
}

Deno.test("a single environment's episodes are those of a vector of one", () => {
  for (const maker of Object.values(MAKERS)) {
    const one = new Recorder(maker());
    const many = new Recorder(new SyncVecEnv([maker]) as VecEnv);
    const random = new SeededRandom(0);
    many.reset({ seed: [7] });
    one.reset({ seed: 7 });
    for (let i = 0; i < 50; i++) {
      const batch = randomActions(many as VecEnv, random);
      many.step(batch);
      const action = readRow(one.actionSpace, { batch, row: 0 });
      const { terminated, truncated } = one.step(action as never);
      if (terminated || truncated) one.reset();
    }
    assertEquals(one.episodes, many.episodes);
  }
});

Deno.test("an episode far longer than others is whole", () => {
  const chain = (length: number) => () =>
    new TransformObservation(new ChainEnv({ length }), (it) => it, {
      space: discrete(1000),
    }) as Env;
  const inside = new SyncVecEnv([1, 700, 3].map(chain));
  const env = new Recorder<VecEnv>(inside as VecEnv);
  env.reset({ seed: 0 });
  for (let i = 0; i < 1400; i++) env.step(new Int32Array(3));
  const found = env.episodes.map(({ rewards }) => rewards.length);
  assertEquals(found.filter((it) => it === 700).length, 2);
  assertEquals(found.filter((it) => it === 1).length, 1400);
  assertEquals(found.length, 1400 + 2 + 466);
  const long = env.episodes.find(({ rewards }) => rewards.length === 700)!;
  const observations = long.observations as Int32Array;
  assertEquals(observations, Int32Array.from({ length: 701 }, (_, i) => i));
});

Deno.test("episodes that a reset cuts off are left out, and steps after an end", () => {
  const env = new Recorder(cartPole(3));
  env.reset({ seed: 0 });
  env.step(0);
  env.reset({ seed: 5 });
  for (let i = 0; i < 3; i++) env.step(0);
  assertEquals(env.episodes.length, 1);
  assertEquals(env.episodes[0].seed, 5);
  assertEquals(env.episodes[0].truncations, Uint8Array.of(0, 0, 1));
});

Deno.test("the episode of an environment that crashed is left out", () => {
  class Crashing extends Wrapper<VecEnv> {
    crashes = false;
    override step(actions: Batch) {
      const step = super.step(actions);
      if (!this.crashes) return step;
      return { ...step, truncated: Uint8Array.of(1, 0), lost: [0] };
    }
  }
  const inside = new Crashing(new SyncVecEnv([() => cartPole(4), cartPole]));
  const env = new Recorder<VecEnv>(inside as VecEnv);
  env.reset({ seed: 0 });
  env.step(new Int32Array(2));
  inside.crashes = true;
  env.step(new Int32Array(2));
  assertEquals(env.episodes, []);
  inside.crashes = false;
  for (let i = 0; i < 4; i++) env.step(Int32Array.of(i % 2, i % 2));
  assert(env.episodes.every(({ rewards }) => rewards.length <= 4));
});

Deno.test("actions of several numbers stay together", () => {
  const inside = new TimeLimit(new DictEnv(), 2);
  Object.assign(inside.env, { actionSpace: multiDiscrete([2, 3]) });
  const env = new Recorder(inside);
  env.reset({ seed: 0 });
  env.step(Int32Array.of(1, 2) as never);
  env.step(Int32Array.of(0, 1) as never);
  assertEquals(env.episodes[0].actions, Int32Array.of(1, 2, 0, 1));
});
