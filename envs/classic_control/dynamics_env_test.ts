import {
  assert,
  assertEquals,
  assertNotEquals,
  assertThrows,
} from "@std/assert";
import { SeededRandom } from "../random.ts";
import { contains } from "../contains.ts";
import type { SpaceValue } from "@bellman/types";
import { CartPoleEnv } from "./cart_pole_env.ts";
import { FORMS, randomActions, type TestedForms } from "./_testing.ts";

type Single = InstanceType<TestedForms["single"]>;

function actionFor(env: Single, random: SeededRandom): SpaceValue {
  const actions = randomActions(env.actionSpace, random, 1);
  return env.actionSpace.type === "box" ? actions : actions[0];
}

function play(env: Single, steps: number): unknown[] {
  const random = new SeededRandom(9);
  return Array.from({ length: steps }, () => {
    const result = env.step(actionFor(env, random));
    if (result.terminated) env.reset();
    return result;
  });
}

/** First states: the least and the most of each number. */
const FIRST_STATES: Record<string, [number, number][]> = {
  "CartPole-v1": Array(4).fill([-0.05, 0.05]),
  "MountainCar-v0": [[-0.6, -0.4], [0, 0]],
  "MountainCarContinuous-v0": [[-0.6, -0.4], [0, 0]],
  // Rounded to float32, which may lie beyond.
  "Acrobot-v1": Array(4).fill([Math.fround(-0.1), Math.fround(0.1)]),
  "Pendulum-v1": [[-Math.PI, Math.PI], [-1, 1]],
};

for (const [name, { single }] of Object.entries(FORMS)) {
  Deno.test(`${name} starts within Gymnasium's bounds and fills them`, () => {
    const env = new single();
    const least = env.state.map(() => Infinity);
    const most = env.state.map(() => -Infinity);
    for (let i = 0; i < 2000; i++) {
      env.reset(i === 0 ? { seed: 0 } : {});
      env.state.forEach((it, j) => {
        least[j] = Math.min(least[j], it);
        most[j] = Math.max(most[j], it);
      });
    }
    FIRST_STATES[name].forEach(([low, high], j) => {
      const margin = (high - low) * 0.01;
      assert(least[j] >= low && least[j] <= low + margin);
      assert(most[j] <= high && most[j] >= high - margin);
    });
  });

  Deno.test(`${name} shows what its space holds`, () => {
    const env = new single();
    assert(contains(env.observationSpace, env.reset({ seed: 0 })));
    const random = new SeededRandom(1);
    for (let i = 0; i < 1000; i++) {
      const result = env.step(actionFor(env, random));
      assert(contains(env.observationSpace, result.observation));
      if (result.terminated) env.reset();
    }
  });

  Deno.test(`${name} repeats itself from a seed`, () => {
    const env = new single(), other = new single();
    assertEquals(env.reset({ seed: 7 }), other.reset({ seed: 7 }));
    assertEquals(play(env, 300), play(other, 300));
    assertNotEquals(env.reset({ seed: 7 }), env.reset());
    assertEquals(env.reset({ seed: 7 }), other.reset({ seed: 7 }));
  });

  Deno.test(`${name} goes on from a snapshot`, () => {
    const env = new single(), other = new single();
    env.reset({ seed: 2 });
    play(env, 20);
    const snapshot = structuredClone(env.save());
    const picture = env.render({ width: 60, height: 40 });
    const wanted = play(env, 300);
    other.load(snapshot);
    assertEquals(other.render({ width: 60, height: 40 }), picture);
    assertEquals(play(other, 300), wanted);
  });

  Deno.test(`${name} without a seed starts as with seed 0, then goes on`, () => {
    const env = new single();
    const first = env.reset();
    assertEquals(first, new single().reset({ seed: 0 }));
    assertNotEquals(env.reset(), first);
  });
}

Deno.test("An observation belongs to the caller", () => {
  const env = new CartPoleEnv();
  const first = env.reset({ seed: 0 });
  const copy = first.slice();
  env.step(0);
  assertEquals(first, copy);
});

Deno.test("A step outside of an episode is refused", () => {
  const env = new CartPoleEnv();
  assertThrows(() => env.step(0), Error, "has not begun: call reset first");
  env.setState([2.39, 5, 0, 0]);
  assertEquals(env.step(1).terminated, true);
  assertThrows(() => env.step(0), Error, "ended in the step before: call");
  const other = new CartPoleEnv();
  other.load(env.save());
  assertThrows(() => other.step(0), Error, "ended in the step before");
  env.reset();
  env.step(0);
});

Deno.test("Actions, states and snapshots that do not fit are refused", () => {
  const env = new CartPoleEnv();
  env.reset({ seed: 0 });
  for (const action of [2, -1, 0.5, NaN]) {
    assertThrows(() => env.step(action), RangeError, `take action ${action}`);
  }
  for (const state of [[1], [1, 2, 3, NaN]]) {
    assertThrows(() => env.setState(state), RangeError, "4 finite numbers");
  }
  assertThrows(() => env.load(null), TypeError, "no 'state'");
  const pendulum = new FORMS["Pendulum-v1"].single();
  assertThrows(() => env.load(pendulum.save()), TypeError, "CartPole");
  assertThrows(() => env.reset({ seed: -1 }), RangeError, "seed");
});

Deno.test("A snapshot of an environment that was never reset is one too", () => {
  const env = new CartPoleEnv();
  env.reset({ seed: 0 });
  env.load(new CartPoleEnv().save());
  assertThrows(() => env.step(0), Error, "has not begun");
});
