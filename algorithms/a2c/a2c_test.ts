import type { AgentOptions } from "@bellman/agent";
import { paramsFromArrays } from "@bellman/compute";
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import type { Space } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";
import { A2C } from "./a2c.ts";
import { type A2CConfig, defaultA2CConfig } from "./config.ts";
import { TestEnv } from "./testdata/test_env.ts";

await tf.setBackend("cpu");

const OBSERVATION: Space = {
  type: "box",
  shape: [3],
  low: -1,
  high: 1,
  dtype: "float32",
};
const ACTIONS: Record<string, Space> = {
  discrete: { type: "discrete", n: 3 },
  "discrete from 5": { type: "discrete", n: 2, start: 5 },
  box: { type: "box", shape: [2], low: -0.5, high: 0.5, dtype: "float32" },
  multiDiscrete: { type: "multiDiscrete", nvec: [2, 3] },
  multiBinary: { type: "multiBinary", n: 2 },
};
const SMALL: Partial<A2CConfig> = {
  hiddenSizes: [8],
  lstmSize: 4,
  numSteps: 4,
  gaeLambda: 1,
  normalizeAdvantage: false,
  optimizer: "rmsprop_tf1",
  learningRate: 7e-4,
  valueNetwork: "shared",
  objective: "shared",
};

function agent(
  config: Partial<A2CConfig> = {},
  { actionSpace = ACTIONS.discrete, numEnvs = 3, ...options }:
    & { actionSpace?: Space; numEnvs?: number }
    & Omit<AgentOptions<A2CConfig>, "config"> = {},
): A2C {
  return new A2C({ observationSpace: OBSERVATION, actionSpace, numEnvs }, {
    config: { ...SMALL, ...config },
    seed: 1,
    totalTimesteps: 10_000,
    ...options,
  });
}

/** Takes steps and gives back all that was decided and learned. */
function run(algorithm: A2C, env: TestEnv, steps: number): unknown[] {
  const seen: unknown[] = [];
  for (let i = 0; i < steps; i++) {
    const actions = algorithm.act(env.observations);
    seen.push(Array.from(actions));
    algorithm.observe(env.step());
    seen.push(algorithm.update());
  }
  return seen;
}

const KINDS: Record<string, [Partial<A2CConfig>, Space]> = {
  ...Object.fromEntries(
    Object.entries(ACTIONS).map(([name, space]) => [name, [{}, space]]),
  ),
  lstm: [{ network: "lstm" }, ACTIONS.discrete],
  "lnlstm with two trunks": [
    { network: "lnlstm", valueNetwork: "separate" },
    ACTIONS.discrete,
  ],
  gSDE: [{ useSde: true, sdeSampleFrequency: 3 }, ACTIONS.box],
  "separate objectives": [
    { objective: "separate", optimizer: "adam" },
    ACTIONS.discrete,
  ],
};

for (const [name, [config, actionSpace]] of Object.entries(KINDS)) {
  Deno.test(`a restored agent goes on bit for bit: ${name}`, () => {
    const original = agent(config, { actionSpace });
    const env = new TestEnv(3);
    run(original, env, 10); // stops in the middle of a rollout
    const state = original.save();
    const envState = env.save();
    const wanted = run(original, env, 11);

    const other = agent(config, { actionSpace, seed: 99 });
    run(other, new TestEnv(3), 5);
    other.load(state);
    env.load(envState);
    assertEquals(run(other, env, 11), wanted);
    assertEquals(other.save(), original.save());
    original.close();
    other.close();
  });
}

Deno.test("the same seed gives the same run, another seed another one", () => {
  const first = run(agent(), new TestEnv(3), 9);
  assertEquals(run(agent(), new TestEnv(3), 9), first);
  const other = run(agent({}, { seed: 2 }), new TestEnv(3), 9);
  assert(JSON.stringify(other) !== JSON.stringify(first));
});

Deno.test("the learning rate goes on after a restore", () => {
  const original = agent({ numSteps: 1 });
  const env = new TestEnv(3);
  run(original, env, 5);
  const resumed = agent({ numSteps: 1 });
  resumed.load(original.save());
  const [, statistics] = run(resumed, env, 1) as [unknown, {
    learning_rate: number;
  }];
  // The sixth update of three samples: counts 15, 16 and, the last, 17.
  assertAlmostEquals(
    statistics.learning_rate,
    7e-4 * (1 - 17 / 10_000),
    1e-12,
  );
});

Deno.test("box actions are clipped for the environment only", () => {
  const algorithm = agent({ initialLogStd: 2 }, { actionSpace: ACTIONS.box });
  const env = new TestEnv(3);
  const actions = algorithm.act(env.observations);
  assert(actions.every((it) => it >= -0.5 && it <= 0.5));
  assert(actions.some((it) => it === 0.5 || it === -0.5));
  algorithm.observe(env.step());
  const { experience } = algorithm.save() as {
    // deno-lint-ignore no-explicit-any -- a look inside of a saved buffer
    experience: any;
  };
  const found = JSON.stringify(experience).match(/-?\d+\.\d+/g)!.map(Number);
  assert(found.some((it) => Math.abs(it) > 0.5 + 1e-6));
});

Deno.test("a recurrent value of a last observation uses the state of then", () => {
  const config = { network: "lstm", numSteps: 3, gamma: 0.5 } as const;
  const algorithm = agent(config, { numEnvs: 1 });
  const observation = (x: number) => Float32Array.of(x, -x, 0.5);
  const zero = new Uint8Array(1), one = Uint8Array.of(1);
  const reward = Float64Array.of(0);
  const plain = { terminated: zero, truncated: zero, rewards: reward };
  for (const x of [0.1, 0.2]) {
    algorithm.act(observation(x));
    const next = observation(x + 0.1);
    algorithm.observe({
      ...plain,
      observations: next,
      finalObservations: next,
    });
  }
  algorithm.act(observation(0.3));
  algorithm.observe({
    ...plain,
    truncated: one,
    observations: observation(0.9),
    finalObservations: observation(0.4),
  });
  const values = algorithm.model.apply(
    paramsFromArrays(algorithm.params),
    tf.tensor2d([0.1, 0.2, 0.3, 0.4].flatMap((x) => [...observation(x)]), [
      4,
      3,
    ]),
    { state: tf.zeros([1, algorithm.model.stateSize]), masks: tf.zeros([4]) },
  ).value.dataSync();
  // The rewards are 0, so the value loss tells the bootstrap's value.
  const bootstrap = values[3];
  const returns = [0.125 * bootstrap, 0.25 * bootstrap, 0.5 * bootstrap];
  const loss = returns.reduce((sum, it, i) => sum + (it - values[i]) ** 2, 0) /
    3;
  assertAlmostEquals(algorithm.update()!.value_loss, loss, 1e-6);
});

Deno.test("bootstrapTruncated: false takes a cut for an end, as the original", () => {
  const losses = [true, false].map((bootstrapTruncated) => {
    const algorithm = agent({ bootstrapTruncated, numSteps: 1 }, {
      numEnvs: 1,
    });
    const observations = Float32Array.of(1, 1, 1);
    const value = algorithm.model.apply(
      paramsFromArrays(algorithm.params),
      tf.tensor2d(observations, [1, 3]),
    ).value.dataSync()[0];
    algorithm.act(observations);
    algorithm.observe({
      observations,
      finalObservations: observations,
      rewards: Float64Array.of(1),
      terminated: new Uint8Array(1),
      truncated: Uint8Array.of(1),
    });
    const { gamma } = defaultA2CConfig;
    const expected = 1 + (bootstrapTruncated ? gamma * value : 0);
    assertAlmostEquals(
      algorithm.update()!.value_loss,
      (expected - value) ** 2,
      1e-5,
    );
    return expected;
  });
  assert(losses[0] !== losses[1]);
});

Deno.test("values of a separate network are those of the acting parameters", () => {
  const algorithm = agent({
    valueNetwork: "separate",
    numSteps: 2,
    gamma: 0.5,
  }, { numEnvs: 1 });
  const observation = (x: number) => Float32Array.of(x, -x, 2 * x);
  const values = algorithm.model.apply(
    paramsFromArrays(algorithm.params),
    tf.tensor2d([1, 2, 3].flatMap((x) => [...observation(x)]), [3, 3]),
  ).value.dataSync();
  for (const x of [1, 2]) {
    algorithm.act(observation(x));
    algorithm.observe({
      observations: observation(x + 1),
      finalObservations: observation(0),
      rewards: Float64Array.of(x),
      terminated: new Uint8Array(1),
      truncated: new Uint8Array(1),
    });
  }
  const second = 2 + 0.5 * values[2];
  const returns = [1 + 0.5 * second, second];
  const loss = returns.reduce((sum, it, i) => sum + (it - values[i]) ** 2, 0);
  assertAlmostEquals(algorithm.update()!.value_loss, loss / 2, 1e-5);
});

Deno.test("state-dependent noise is kept for sdeSampleFrequency steps", () => {
  const algorithm = agent({ useSde: true, sdeSampleFrequency: 2 }, {
    actionSpace: ACTIONS.box,
  });
  const env = new TestEnv(3);
  const still = Float32Array.from(env.observations);
  const chosen = [0, 1, 2].map(() => {
    const actions = [...algorithm.act(still)];
    algorithm.observe(env.step());
    return actions;
  });
  assertEquals(chosen[0], chosen[1]);
  assert(String(chosen[1]) !== String(chosen[2]));
});

Deno.test("a deterministic policy keeps its own recurrent state", () => {
  const algorithm = agent({ network: "lstm" });
  const seen = Float32Array.from({ length: 9 }, (_, i) => Math.sin(i));
  const actor = algorithm.policy({ deterministic: true });
  const first = actor.act(seen);
  const before = algorithm.save();
  actor.act(seen);
  const all = new Uint8Array(3).fill(1);
  actor.observe({ terminated: all, truncated: new Uint8Array(3) });
  assertEquals(actor.act(seen), first);
  assertEquals(algorithm.save(), before);
});

for (const engine of ["onnx", "eager"] as const) {
  for (const [network, updates] of [["mlp", 1000], ["lstm", 50]] as const) {
    Deno.test(`${updates} updates of ${network}, ${engine}, keep the number of tensors`, () => {
      const first = tf.memory().numTensors;
      const algorithm = agent({ network, numSteps: 1, hiddenSizes: [4] }, {
        engine,
      });
      const env = new TestEnv(3);
      run(algorithm, env, 1);
      const before = tf.memory().numTensors;
      run(algorithm, env, updates);
      assertEquals(tf.memory().numTensors, before);
      algorithm.close();
      assertEquals(tf.memory().numTensors, first);
    });
  }
}

Deno.test("advantages are normalised on request", () => {
  // With all advantages scaled the entropy-free policy loss no longer depends
  // on the size of the rewards.
  const losses = [1, 100].map((scale) => {
    const algorithm = agent({ normalizeAdvantage: true, numSteps: 4 });
    const env = new TestEnv(3, scale);
    const seen = run(algorithm, env, 4);
    return seen[seen.length - 1] as { policy_loss: number };
  });
  assert(Math.abs(losses[0].policy_loss) < 1);
  assert(Math.abs(losses[1].policy_loss) < 1);
});

Deno.test("impossible settings are one clear line", () => {
  assertThrows(
    () => agent({ numSteps: 0 }),
    RangeError,
    "Cannot run A2C with numSteps = 0: expected a whole number of at least 1",
  );
  assertThrows(
    () => agent({ gamma: 1.5 }),
    RangeError,
    "Cannot run A2C with gamma = 1.5: expected a number from 0 to 1",
  );
  assertThrows(() => agent({ sdeSampleFrequency: 0 }), RangeError);
  assertThrows(
    () => agent().load(agent({ hiddenSizes: [9] }).save()),
    RangeError,
    "Cannot write 'state.policy.shared/dense0/kernel' from 27 numbers of shape [3,9]: expected float32[3,8]",
  );
  assertThrows(() => agent().load(null), TypeError);
});

Deno.test("acting, observing and learning have their order", () => {
  const algorithm = agent({ numSteps: 1 });
  const env = new TestEnv(3);
  assertEquals(algorithm.update(), undefined);
  assertThrows(() => algorithm.observe(env.step()), Error, "before act()");
  algorithm.act(env.observations);
  assertThrows(() => algorithm.save(), Error, "between act() and observe()");
  algorithm.observe(env.step());
  algorithm.act(env.observations);
  assertThrows(() => algorithm.observe(env.step()), Error, "call update()");
});

Deno.test("what is not finite is refused, and nothing of it is taken in", () => {
  const whole = agent(), tried = agent();
  const env = new TestEnv(3), other = new TestEnv(3);
  for (let t = 0; t < 6; t++) {
    whole.act(env.observations);
    whole.observe(env.step());
    whole.update();
    tried.act(other.observations);
    const step = other.step();
    const nan = Float32Array.from(step.observations).fill(NaN, 4, 5);
    const wrong = [
      { rewards: Float64Array.of(0, NaN, 0) },
      { rewards: Float64Array.of(0, 1e308, 0) },
      { observations: nan },
    ];
    for (const parts of wrong) {
      assertThrows(
        () => tried.observe({ ...step, ...parts }),
        RangeError,
        `of copy 1 at step ${3 * (t + 1)}`,
      );
    }
    tried.observe(step);
    tried.update();
  }
  assertEquals(tried.save(), whole.save());
  assertThrows(() => tried.act(new Float32Array(9).fill(NaN)), RangeError);
  whole.close();
  tried.close();
});
