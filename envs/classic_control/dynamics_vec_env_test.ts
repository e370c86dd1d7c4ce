import { assert, assertEquals, assertThrows } from "@std/assert";
import type { EnvSpec, StateTree, VecEnv, VecStep } from "@bellman/types";
import { SeededRandom } from "../random.ts";
import { SyncVecEnv } from "../sync_vec_env.ts";
import { TimeLimit } from "../wrappers/time_limit.ts";
import { CartPoleVecEnv } from "./cart_pole_vec_env.ts";
import { PendulumVecEnv } from "./pendulum_vec_env.ts";
import { FORMS, randomActions } from "./_testing.ts";

const COPIES = 5;

/** What can be compared: the rows of final observations that count. */
function record(step: VecStep): unknown {
  const final = step.finalObservations as Float32Array;
  const size = final.length / step.rewards.length;
  const ended = step.terminated.map((it, i) => it | step.truncated[i]);
  return structuredClone({
    observations: step.observations,
    rewards: step.rewards,
    terminated: step.terminated,
    truncated: step.truncated,
    final: final.filter((_, i) => ended[Math.floor(i / size)] === 1),
  });
}

function play(env: VecEnv, steps: number, seed: number): unknown[] {
  const random = new SeededRandom(seed);
  return Array.from({ length: steps }, () => {
    const actions = randomActions(env.actionSpace, random, env.numEnvs);
    return record(env.step(actions));
  });
}

for (const [name, { single, batched }] of Object.entries(FORMS)) {
  // CartPole's episodes end by themselves near this limit too.
  const limit = 23;

  Deno.test(`${name}: a batch has the numbers of single ones`, () => {
    const many = new batched({ numEnvs: COPIES, maxEpisodeSteps: limit });
    const factory = () => new TimeLimit(new single(), limit);
    const singles = new SyncVecEnv(Array(COPIES).fill(factory));
    for (const seed of [0, 1]) {
      assertEquals(many.reset({ seed }), singles.reset({ seed }));
      assertEquals(play(many, 2000, seed), play(singles, 2000, seed));
    }
    assertEquals(many.reset(), singles.reset());
    assertEquals(many.observations(), singles.observations());
  });

  Deno.test(`${name}: a batch goes on from a snapshot`, () => {
    const options = { numEnvs: COPIES, maxEpisodeSteps: limit };
    const env = new batched(options);
    env.reset({ seed: 4 });
    play(env, 50, 0);
    const snapshot = structuredClone(env.save());
    const observations = env.observations().slice();
    const wanted = play(env, 200, 1);
    const other = new batched(options);
    other.load(snapshot);
    assertEquals(other.observations(), observations);
    assertEquals(play(other, 200, 1), wanted);
  });

  Deno.test(`${name}: a batch reuses what it returns`, () => {
    const env = new batched({ numEnvs: COPIES, maxEpisodeSteps: limit });
    const first = env.reset({ seed: 0 });
    const actions = randomActions(env.actionSpace, new SeededRandom(0), COPIES);
    const step = env.step(actions);
    const held = { ...step };
    for (let i = 0; i < 30; i++) {
      const next = env.step(actions);
      assert(next === step);
      for (const [key, array] of Object.entries(held)) {
        assert(next[key as keyof VecStep] === array, key);
      }
    }
    assert(step.observations === first);
    assert(env.observations() === first);
    assert(env.reset() === first);
  });
}

Deno.test("A batch tells of an end by rule and by limit at once", () => {
  const env = new CartPoleVecEnv({ numEnvs: 1, maxEpisodeSteps: 2 });
  env.reset({ seed: 0 });
  env.states.set([2.37, 1, 0, 0]);
  const right = Int32Array.of(1);
  const { terminated, truncated } = env.step(right);
  assertEquals([terminated[0], truncated[0]], [0, 0]);
  env.step(right);
  assertEquals([terminated[0], truncated[0]], [1, 1]);
});

Deno.test("A batch resets in the step that ends an episode", () => {
  const env = new CartPoleVecEnv({ numEnvs: 2 });
  env.reset({ seed: 0 });
  env.states.set([2.39, 1, 0, 0], 4);
  const step = env.step(Int32Array.of(1, 1));
  assertEquals([...step.terminated], [0, 1]);
  const observations = step.observations as Float32Array;
  const final = step.finalObservations as Float32Array;
  assert(final[4] > 2.4);
  assert(observations.subarray(4).every((it) => Math.abs(it) <= 0.05));
});

Deno.test("A batch refuses actions that it cannot take", () => {
  const env = new CartPoleVecEnv({ numEnvs: 2 });
  env.reset({ seed: 0 });
  const before = env.save();
  const cases: [ArrayLike<number>, string][] = [
    [Int32Array.of(0), "1 numbers of actions: expected 2"],
    [Int32Array.of(0, 2), "Cannot take action 2"],
    [Int32Array.of(-1, 0), "Cannot take action -1"],
    [Float32Array.of(0, NaN), "Cannot take action NaN"],
    [Float32Array.of(0, 0.5), "Cannot take action 0.5"],
  ];
  for (const [actions, message] of cases) {
    assertThrows(() => env.step(actions as Int32Array), RangeError, message);
  }
  assertEquals(env.save(), before);
});

Deno.test("A batch of boxes refuses what is not finite or not float32", () => {
  const env = new PendulumVecEnv({ numEnvs: 2 });
  env.reset({ seed: 0 });
  for (const bad of [NaN, Infinity]) {
    assertThrows(() => env.step(Float32Array.of(0, bad)), RangeError, `${bad}`);
  }
  assertThrows(() => env.step(Float64Array.of(0, 0)), RangeError);
});

Deno.test("A batch must be reset before it is stepped", () => {
  const env = new CartPoleVecEnv({ numEnvs: 1 });
  assertThrows(() => env.step(Int32Array.of(0)), Error, "call reset first");
});

Deno.test("A batch refuses sizes and limits that make no sense", () => {
  for (const numEnvs of [0, -1, 1.5, NaN]) {
    assertThrows(() => new CartPoleVecEnv({ numEnvs }), RangeError, "copies");
  }
  for (const maxEpisodeSteps of [0, 2.5, NaN]) {
    assertThrows(
      () => new CartPoleVecEnv({ numEnvs: 1, maxEpisodeSteps }),
      RangeError,
      "Cannot limit",
    );
  }
});

Deno.test("A batch refuses snapshots of others", () => {
  const env = new CartPoleVecEnv({ numEnvs: 2 });
  const three = new CartPoleVecEnv({ numEnvs: 3 });
  const pendulum = new PendulumVecEnv({ numEnvs: 2 });
  const cases: [StateTree, string][] = [
    [three.save(), "2 copies from a snapshot of 3"],
    [pendulum.save(), "states of 4 numbers"],
    [null, "no 'states'"],
  ];
  for (const [snapshot, message] of cases) {
    assertThrows(() => env.load(snapshot), Error, message);
  }
});

Deno.test("A batch keeps what it is known as", () => {
  const spec: EnvSpec = { id: "Custom-v0" };
  assertEquals(new CartPoleVecEnv({ numEnvs: 1, spec }).spec, spec);
});
