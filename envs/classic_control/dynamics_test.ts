import type { EnvSpec, VecEnv, VecStep } from "@bellman/types";
import {
  assert,
  assertEquals,
  assertNotEquals,
  assertThrows,
} from "@std/assert";
import { SeededRandom } from "../random.ts";
import { SyncVecEnv } from "../sync_vec_env.ts";
import { TimeLimit } from "../wrappers/time_limit.ts";
import { CART_POLE } from "./cart_pole.ts";
import { DynamicsEnv, DynamicsVecEnv } from "./dynamics.ts";
import { PENDULUM } from "./pendulum.ts";
import { DYNAMICS, randomActions } from "./testdata/dynamics.ts";

/** First states: the least and the most of each number. */
const FIRST_STATES: Record<string, [number, number][]> = {
  "CartPole-v1": Array(4).fill([-0.05, 0.05]),
  "MountainCar-v0": [[-0.6, -0.4], [0, 0]],
  "MountainCarContinuous-v0": [[-0.6, -0.4], [0, 0]],
  // Rounded to float32, which may lie beyond.
  "Acrobot-v1": Array(4).fill([Math.fround(-0.1), Math.fround(0.1)]),
  "Pendulum-v1": [[-Math.PI, Math.PI], [-1, 1]],
};

for (const [name, dynamics] of Object.entries(DYNAMICS)) {
  Deno.test(`${name} starts within Gymnasium's bounds and fills them`, () => {
    const env = new DynamicsEnv(dynamics);
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

  Deno.test(`${name} without a seed starts as with seed 0, then goes on`, () => {
    const env = new DynamicsEnv(dynamics);
    const first = env.reset();
    assertEquals(first, new DynamicsEnv(dynamics).reset({ seed: 0 }));
    assertNotEquals(env.reset(), first);
  });
}

Deno.test("An observation belongs to the caller", () => {
  const env = new DynamicsEnv(CART_POLE);
  const first = env.reset({ seed: 0 });
  const copy = first.slice();
  env.step(0);
  assertEquals(first, copy);
});

Deno.test("A step outside of an episode is refused", () => {
  const env = new DynamicsEnv(CART_POLE);
  assertThrows(() => env.step(0), Error, "has not begun: call reset first");
  env.setState([2.39, 5, 0, 0]);
  assertEquals(env.step(1).terminated, true);
  assertThrows(() => env.step(0), Error, "ended in the step before: call");
  const other = new DynamicsEnv(CART_POLE);
  other.load(env.save());
  assertThrows(() => other.step(0), Error, "ended in the step before");
  env.reset();
  env.step(0);
});

Deno.test("Actions, states and snapshots that do not fit are refused", () => {
  const env = new DynamicsEnv(CART_POLE);
  env.reset({ seed: 0 });
  for (const action of [2, -1, 0.5, NaN]) {
    assertThrows(() => env.step(action), RangeError, `take action ${action}`);
  }
  for (const state of [[1], [1, 2, 3, NaN]]) {
    assertThrows(() => env.setState(state), RangeError, "4 finite numbers");
  }
  assertThrows(() => env.load(null), TypeError, "no 'state'");
  const pendulum = new DynamicsEnv(PENDULUM);
  assertThrows(() => env.load(pendulum.save()), TypeError, "CartPole");
  assertThrows(() => env.reset({ seed: -1 }), RangeError, "seed");
});

Deno.test("A snapshot of an environment that was never reset is one too", () => {
  const env = new DynamicsEnv(CART_POLE);
  env.reset({ seed: 0 });
  env.load(new DynamicsEnv(CART_POLE).save());
  assertThrows(() => env.step(0), Error, "has not begun");
});

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

function playVec(env: VecEnv, steps: number, seed: number): unknown[] {
  const random = new SeededRandom(seed);
  return Array.from({ length: steps }, () => {
    const actions = randomActions(
      env.actionSpace as DynamicsVecEnv["actionSpace"],
      random,
      env.numEnvs,
    );
    return record(env.step(actions));
  });
}

for (const [name, dynamics] of Object.entries(DYNAMICS)) {
  // CartPole's episodes end by themselves near this limit too.
  const limit = 23;

  Deno.test(`${name}: a batch has the numbers of single ones`, () => {
    const many = new DynamicsVecEnv(dynamics, {
      numEnvs: COPIES,
      maxEpisodeSteps: limit,
    });
    const factory = () => new TimeLimit(new DynamicsEnv(dynamics), limit);
    const singles = new SyncVecEnv(Array(COPIES).fill(factory));
    for (const seed of [0, 1]) {
      assertEquals(many.reset({ seed }), singles.reset({ seed }));
      assertEquals(playVec(many, 2000, seed), playVec(singles, 2000, seed));
    }
    assertEquals(many.reset(), singles.reset());
    assertEquals(many.observations(), singles.observations());
  });

  Deno.test(`${name}: a batch goes on from a snapshot`, () => {
    const options = { numEnvs: COPIES, maxEpisodeSteps: limit };
    const env = new DynamicsVecEnv(dynamics, options);
    env.reset({ seed: 4 });
    playVec(env, 50, 0);
    const snapshot = structuredClone(env.save());
    const observations = env.observations().slice();
    const wanted = playVec(env, 200, 1);
    const other = new DynamicsVecEnv(dynamics, options);
    other.load(snapshot);
    assertEquals(other.observations(), observations);
    assertEquals(playVec(other, 200, 1), wanted);
  });

  Deno.test(`${name}: a batch reuses what it returns`, () => {
    const env = new DynamicsVecEnv(dynamics, {
      numEnvs: COPIES,
      maxEpisodeSteps: limit,
    });
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

Deno.test("A batch refuses actions that it cannot take", () => {
  const env = new DynamicsVecEnv(CART_POLE, { numEnvs: 2 });
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
  const env = new DynamicsVecEnv(PENDULUM, { numEnvs: 2 });
  env.reset({ seed: 0 });
  for (const bad of [NaN, Infinity]) {
    assertThrows(() => env.step(Float32Array.of(0, bad)), RangeError, `${bad}`);
  }
  assertThrows(() => env.step(Float64Array.of(0, 0) as never), RangeError);
});

Deno.test("A batch must be reset before it is stepped", () => {
  const env = new DynamicsVecEnv(CART_POLE, { numEnvs: 1 });
  assertThrows(() => env.step(Int32Array.of(0)), Error, "call reset first");
});

Deno.test("A batch keeps what it is known as", () => {
  const spec: EnvSpec = { id: "Custom-v0" };
  assertEquals(new DynamicsVecEnv(CART_POLE, { numEnvs: 1, spec }).spec, spec);
});
