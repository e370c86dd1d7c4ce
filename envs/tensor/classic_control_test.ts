import { assert, assertEquals, assertThrows } from "@std/assert";
import { compile, type EngineName, selectBackend } from "@bellman/compute";
import { isXlaInstalled } from "@bellman/compute/xla";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { ACROBOT } from "../classic_control/acrobot.ts";
import { CART_POLE } from "../classic_control/cart_pole.ts";
import { type Dynamics, DynamicsEnv } from "../classic_control/dynamics.ts";
import {
  MOUNTAIN_CAR,
  MOUNTAIN_CAR_CONTINUOUS,
} from "../classic_control/mountain_car.ts";
import { PENDULUM } from "../classic_control/pendulum.ts";
import { make } from "../mod.ts";
import { spacesEqual } from "../spaces/values.ts";
import { tensorEnv, tensorEnvIds } from "./mod.ts";

await selectBackend("cpu");

/** Rules on typed arrays, and the range of each number of a state. */
const RULES: Readonly<Record<string, [Dynamics, ranges: number[]]>> = {
  "CartPole-v1": [CART_POLE, [2.5, 3, 0.22, 3]],
  "MountainCar-v0": [MOUNTAIN_CAR, [1.2, 0.07]],
  "MountainCarContinuous-v0": [MOUNTAIN_CAR_CONTINUOUS, [1.2, 0.07]],
  "Acrobot-v1": [ACROBOT, [3.1, 3.1, 12, 28]],
  "Pendulum-v1": [PENDULUM, [9, 8]],
};

const ROWS = 32;

/** Numbers from -1 to 1, ROWS columns of them. */
const columns = (count: number) =>
  fc.array(
    fc.array(fc.float({ min: -1, max: 1, noNaN: true }), {
      minLength: count,
      maxLength: count,
    }),
    { minLength: ROWS, maxLength: ROWS },
  );

/** The step that an environment on typed arrays takes. */
function expectedStep(
  dynamics: Dynamics,
  state: readonly number[],
  action: number,
) {
  const env = new DynamicsEnv(dynamics);
  env.reset({ seed: 0 });
  env.setState(state);
  const isBox = dynamics.actionSpace.type === "box";
  const { observation, reward, terminated } = env.step(
    isBox ? Float32Array.of(action) : action,
  );
  return { state: [...env.state], observation, reward, terminated };
}

function assertClose(
  actual: ArrayLike<number>,
  expected: ArrayLike<number>,
  tolerance = 4e-6,
) {
  assertEquals(actual.length, expected.length);
  for (let i = 0; i < expected.length; i++) {
    const scale = Math.max(1, Math.abs(expected[i]));
    assert(
      Math.abs(actual[i] - expected[i]) <= tolerance * scale,
      `number ${i}: ${actual[i]} in tensors, ${expected[i]} on typed arrays`,
    );
  }
}

function testSteps(id: string, engine: EngineName): void {
  const [dynamics, ranges] = RULES[id];
  const env = tensorEnv(id);
  const isBox = dynamics.actionSpace.type === "box";
  // Fast links make much of the last bit.
  const tolerance = id.startsWith("Acrobot") ? 4e-5 : undefined;
  const names = Object.keys(env.start(tf.zeros([env.startSize, 1])));
  const column = { shape: [ROWS], dtype: "float32" } as const;
  const step = compile((given) => {
    const { actions, ...state } = given as Record<string, tf.Tensor>;
    const next = env.step(state, actions);
    return {
      state: next.state,
      rewards: next.rewards,
      terminated: next.terminated,
      observations: env.observe(next.state),
    };
  }, {
    inputs: {
      ...Object.fromEntries(names.map((name) => [name, column])),
      actions: isBox
        ? { shape: [ROWS, 1], dtype: "float32" }
        : { shape: [ROWS], dtype: "int32" },
    },
    engine,
  });
  fc.assert(
    fc.property(columns(ranges.length + 1), (rows) => {
      const states = rows.map((row) =>
        ranges.map((range, i) => Math.fround(row[i] * range))
      );
      const actions = rows.map((row) => {
        const drawn = row[ranges.length];
        if (isBox) return Math.fround(3 * drawn);
        const { n } = dynamics.actionSpace as { n: number };
        return Math.min(n - 1, Math.floor((drawn + 1) / 2 * n));
      });
      const made = step.run({
        ...Object.fromEntries(names.map((name, i) => [
          name,
          Float32Array.from(states, (state) => state[i]),
        ])),
        actions: isBox ? Float32Array.from(actions) : Int32Array.from(actions),
      } as never);
      const expected = states.map((state, i) =>
        expectedStep(dynamics, state, actions[i])
      );
      names.forEach((name, i) =>
        assertClose(
          (made.state as Record<string, Float32Array>)[name],
          expected.map(({ state }) => state[i]),
          tolerance,
        )
      );
      const rewards = expected.map(({ reward }, i) =>
        // A flag that is touched by a hair is reached or not.
        Math.abs(reward - made.rewards[i]) > 50 ? made.rewards[i] : reward
      );
      assertClose(made.rewards, rewards);
      assertClose(
        made.observations,
        expected.flatMap(({ observation }) => [...observation]),
        tolerance,
      );
      const differ = expected.filter(({ terminated }, i) =>
        terminated !== (made.terminated[i] !== 0)
      );
      assert(differ.length <= 1, `${differ.length} ends differ`);
    }),
    { seed: 1, numRuns: 5 },
  );
}

for (const id of Object.keys(RULES)) {
  for (const engine of ["eager", "onnx", "xla"] as const) {
    Deno.test(
      `${id} steps as on typed arrays ${
        engine === "xla" ? "[XLA]" : `(${engine})`
      }`,
      { ignore: engine === "xla" && !isXlaInstalled() },
      () => testSteps(id, engine),
    );
  }
}

Deno.test("spaces and time limits are those of the registry", () => {
  for (const id of tensorEnvIds) {
    const env = tensorEnv(id), other = make(id);
    assert(spacesEqual(env.observationSpace, other.observationSpace), id);
    assert(spacesEqual(env.actionSpace, other.actionSpace), id);
    assertEquals(env.maxEpisodeSteps, other.spec?.maxEpisodeSteps, id);
    other.close();
  }
});

Deno.test("first states are those of the range", () => {
  for (const id of Object.keys(RULES)) {
    const env = tensorEnv(id);
    const bounds = [0, 1 - 2 ** -24].map((it) =>
      Object.values(env.start(tf.fill([env.startSize, 1], it)))
        .map((it) => it.dataSync()[0])
    );
    const dynamics = RULES[id][0];
    const state = new Float64Array(dynamics.stateSize);
    const draws = [0, 1 - 2 ** -24].map((it) => {
      const random = { uniform: () => it, normal: () => 0, integer: () => 0 };
      dynamics.reset(state, 0, random);
      return [...state];
    });
    draws.forEach((it, i) => assertClose(bounds[i], it));
  }
});

Deno.test("an unknown id is refused with those that there are", () => {
  assertThrows(
    () => tensorEnv("CartPole-v2"),
    RangeError,
    "Cannot find 'CartPole-v2' as tensors: expected one of CartPole-v0, CartPole-v1",
  );
});
