import type { Space, SpaceValue, StepResult } from "@bellman/types";
import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { make, makeVec } from "./mod.ts";
import { deriveSeed } from "./random.ts";
import { cloneBatch } from "./spaces/batch.ts";
import {
  box,
  dict,
  discrete,
  multiBinary,
  tuple,
} from "./spaces/constructors.ts";
import { SyncVecEnv } from "./sync_vec_env.ts";
import { chainOf } from "./testdata/chain_of.ts";
import { DictEnv } from "./testdata/dict_env.ts";
import { testVecWrapper } from "./testdata/wrapper_contract.ts";
import { TimeLimit } from "./wrappers/time_limit.ts";
import { assertRefused } from "../tests/testdata/refused.ts";

function chains(limit: number, ...lengths: number[]): SyncVecEnv {
  return new SyncVecEnv(
    lengths.map((length) => () => new TimeLimit(chainOf(length), limit)),
  );
}

const GO = (n: number) => new Int32Array(n);

Deno.test("a copy that ended is reset in the same step", () => {
  const env = chains(100, 2, 3);
  env.reset({ seed: 0 });
  env.step(GO(2));
  const step = env.step(GO(2));
  assertEquals([...step.terminated], [1, 0]);
  assertEquals([...step.truncated], [0, 0]);
  assertEquals([...step.rewards], [1, 1]);
  assertEquals([...(step.observations as Int32Array)], [0, 2]);
  assertEquals((step.finalObservations as Int32Array)[0], 2);
});

Deno.test("a time limit truncates and shows the true last observation", () => {
  const env = chains(2, 5, 2);
  env.reset({ seed: 0 });
  env.step(GO(2));
  const step = env.step(GO(2));
  assertEquals([...step.truncated], [1, 1]);
  // The second chain ends by its own rules in that very step: both are told.
  assertEquals([...step.terminated], [0, 1]);
  assertEquals([...(step.finalObservations as Int32Array)], [2, 2]);
  assertEquals([...(step.observations as Int32Array)], [0, 0]);
});

Deno.test("each copy has the random stream of its own seed", () => {
  const env = new SyncVecEnv([
    () => make("CartPole-v1"),
    () => make("CartPole-v1"),
  ]);
  const all = env.reset({ seed: 5 }) as Float32Array;
  for (const row of [0, 1]) {
    const alone = make("CartPole-v1").reset({ seed: deriveSeed(5, row) });
    assertEquals(all.slice(4 * row, 4 * row + 4), alone);
  }
});

Deno.test("without a seed it starts as with seed 0, then goes on", () => {
  const make2 = () => new SyncVecEnv([() => make("CartPole-v1")]);
  const env = make2();
  const first = (env.reset() as Float32Array).slice();
  assertEquals(first, make2().reset({ seed: 0 }));
  const second = env.reset() as Float32Array;
  assertEquals(second.some((it, i) => it !== first[i]), true);
});

Deno.test("a group of copies can be hosted alone, batched or not", () => {
  const forms = [
    (n: number) =>
      new SyncVecEnv(Array.from({ length: n }, () => () => make("Acrobot-v1"))),
    (n: number) => makeVec("Acrobot-v1", { numEnvs: n, recordEpisodes: false }),
  ];
  for (const form of forms) {
    const all = form(5).reset({ seed: 8 }) as Float32Array;
    const seed = [2, 3, 4].map((copy) => deriveSeed(8, copy));
    assertEquals(form(3).reset({ seed }), all.slice(6 * 2));
  }
});

Deno.test("observations of any space are batched", () => {
  const env = new SyncVecEnv([() => new DictEnv(), () => new DictEnv()]);
  env.reset();
  assertStrictEquals(env.step(GO(2)).observations, env.observations());
  assertEquals(env.observations(), {
    count: Int32Array.of(1, 1),
    half: Float32Array.of(0.5, 0.5),
  });
});

Deno.test("actions that cannot be taken are one clear line", () => {
  const env = chains(9, 5, 5);
  env.reset({ seed: 0 });
  assertRefused({
    "RangeError: Cannot step 2 copies with 3 numbers of actions: expected 2":
      () => env.step(GO(3)),
    "RangeError: Cannot take action 2: expected a whole number from 0 to 1":
      () => env.step(Int32Array.of(0, 2)),
  });
  const pendulum = new SyncVecEnv([() => make("Pendulum-v1")]);
  pendulum.reset({ seed: 0 });
  assertRefused({
    "RangeError: Cannot take action [NaN]": () =>
      pendulum.step(Float32Array.of(NaN)),
    "TypeError: Cannot step 1 copy with actions in a Float64Array: expected a Float32Array":
      () => pendulum.step(Float64Array.of(0) as never),
    "RangeError: Cannot step 1 copy with no numbers of actions: expected 1":
      () => pendulum.step(undefined as never),
    "RangeError: Cannot take action NaN: expected a whole number from 0 to 1":
      () => env.step(Float64Array.of(0, NaN)),
  });
  // Nothing was stepped: the first copy did not move.
  assertEquals([...(env.observations() as Int32Array)], [0, 0]);
});

Deno.test("a snapshot from before the first reset restores that, too", () => {
  const [env, other] = [0, 1].map(() => makeVec("CartPole-v1", { numEnvs: 2 }));
  const expected = cloneBatch(other.reset());
  env.load(env.save());
  assertEquals(env.reset(), expected);
});

Deno.test("no copies, or a snapshot of other copies, are refused", () => {
  assertRefused({
    "RangeError: of 0 copies": () => new SyncVecEnv([]),
    "RangeError: Cannot restore 2 copies from a snapshot of 1": () =>
      chains(9, 5, 5).load(chains(9, 5).save()),
  });
});

Deno.test("what is no list of functions is refused", () => {
  for (const given of [null, 3, [3], {}]) {
    assertThrows(
      () => new SyncVecEnv(given as unknown as []),
      TypeError,
      "Cannot make a vector environment: expected a list of functions that each make an environment",
    );
  }
});

Deno.test("copies whose spaces differ are refused", () => {
  assertRefused({
    "RangeError: Cannot step copies together whose observations differ: copy 0 has":
      () => new SyncVecEnv([() => new DictEnv(), () => chainOf(3)]),
  });
});

/** Counts what its actions add up to, and keeps the objects it was given. */
class SumEnv extends DictEnv {
  override readonly actionSpace: Space = dict({
    move: discrete(3),
    push: box({ low: -1, high: 1, shape: [2] }),
    keys: tuple([multiBinary(2)]),
  });
  given: SpaceValue[] = [];
  seen: unknown[] = [];

  override step(action?: SpaceValue): StepResult {
    this.given.push(action!);
    this.seen.push(structuredClone(action));
    return super.step();
  }
}

Deno.test("nested actions are taken apart, in objects that are reused", () => {
  const copies = [new SumEnv(), new SumEnv()];
  const env = new SyncVecEnv(copies.map((it) => () => it));
  env.reset();
  const actions = {
    move: Int32Array.of(1, 2),
    push: Float32Array.of(0, 0.25, 0.5, 0.75),
    keys: [Uint8Array.of(0, 1, 1, 0)],
  };
  env.step(actions);
  actions.move[1] = 0;
  actions.push[3] = -1;
  env.step(actions);
  assertEquals(copies[1].seen, [
    { move: 2, push: Float32Array.of(0.5, 0.75), keys: [Uint8Array.of(1, 0)] },
    { move: 0, push: Float32Array.of(0.5, -1), keys: [Uint8Array.of(1, 0)] },
  ]);
  assertStrictEquals(copies[1].given[0], copies[1].given[1]);
  assertEquals(copies[0].given[0] === copies[1].given[0], false);
  assertRefused({
    "RangeError: Cannot step 2 copies with no numbers of actions: expected 4":
      () => env.step({ move: actions.move, push: actions.push } as never),
  });
});

testVecWrapper("SyncVecEnv", () => chains(4, 3, 7, 5));
testVecWrapper(
  "SyncVecEnv of CartPole",
  () => new SyncVecEnv([() => make("CartPole-v1"), () => make("CartPole-v1")]),
);
