import { assert, assertAlmostEquals, assertThrows } from "@std/assert";
import {
  adam,
  compileStep,
  type Params,
  RandomStream,
  sgd,
} from "@bellman/compute";
import { addPrefix, pickPrefix } from "@bellman/policies";
import * as tf from "@tensorflow/tfjs";
import type { SacNumbers, SacState } from "./model.ts";
import { discreteSacUpdate } from "./discrete_update.ts";
import { initSacState, sacUpdate, type SacUpdateOptions } from "./update.ts";
import { assertDescent } from "../testdata/descent.ts";
import {
  bandit,
  continuousBatch,
  continuousModel,
  PEAK,
  peakModel,
} from "../testdata/models.ts";

await tf.setBackend("cpu");

function setup() {
  const model = continuousModel();
  const optimizer = sgd();
  const state = initSacState(model, new RandomStream(5), {
    optimizer,
    initialAlpha: 0.4,
  });
  const { noise, nextNoise, ...batch } = continuousBatch(3);
  const run = (
    state: SacState,
    rates: Partial<SacNumbers>,
    options: SacUpdateOptions = {},
  ) =>
    sacUpdate(model, { optimizer, ...options }).learn(state, batch, {
      learningRate: tf.scalar(0),
      tau: tf.scalar(0),
      noise,
      nextNoise,
      ...rates,
    });
  return { state, run };
}

Deno.test("the critics descend the gradient of their loss", () => {
  const { state, run } = setup();
  const { state: after } = run(state, { criticLearningRate: tf.scalar(1) });
  assertDescent(
    state.critics,
    after.critics,
    (critics) => run({ ...state, critics }, {}).stats.q_loss.arraySync(),
  );
});

Deno.test("the policy descends the gradient of its loss", () => {
  const { state, run } = setup();
  const { state: after } = run(state, {
    learningRate: tf.scalar(1),
    criticLearningRate: tf.scalar(0),
  });
  assertDescent(
    state.policy,
    after.policy,
    (policy) => run({ ...state, policy }, {}).stats.policy_loss.arraySync(),
  );
});

Deno.test("the temperature descends the gradient of its loss", () => {
  const { state, run } = setup();
  const { state: after } = run(state, {
    temperatureLearningRate: tf.scalar(1),
  });
  assertDescent(
    state.temperature,
    after.temperature,
    (temperature) =>
      run({ ...state, temperature }, {}).stats.temperature_loss!.arraySync(),
  );
});

Deno.test("the policy meets the critics as they are after their step", () => {
  const { state, run } = setup();
  const criticLearningRate = tf.scalar(0.5);
  const stepped = run(state, { criticLearningRate });
  const afterwards = run({ ...state, critics: stepped.state.critics }, {});
  const before = run(state, {});
  const [loss, expected, other] = [stepped, afterwards, before].map((it) =>
    it.stats.policy_loss.arraySync()
  );
  assertAlmostEquals(loss, expected, 1e-6);
  assert(Math.abs(loss - other) > 1e-3);
});

Deno.test("the twins may change places", () => {
  const { state, run } = setup();
  const swap = (params: Params): Params => ({
    ...addPrefix(pickPrefix(params, "qf2"), "qf1"),
    ...addPrefix(pickPrefix(params, "qf1"), "qf2"),
  });
  const learningRate = tf.scalar(0.1);
  const plain = run(state, { learningRate });
  const swapped = run({
    ...state,
    critics: swap(state.critics),
    targets: swap(state.targets),
  }, { learningRate });
  const pairs: [Params, Params][] = [
    [plain.state.policy, swapped.state.policy],
    [plain.state.temperature, swapped.state.temperature],
    [plain.state.critics, swap(swapped.state.critics)],
    [plain.results, swapped.results],
  ];
  for (const [a, b] of pairs) {
    for (const path in a) {
      const off = tf.max(tf.abs(tf.sub(a[path], b[path]))).dataSync()[0];
      assert(off < 1e-6, path);
    }
  }
});

/** Normal numbers of mean 0 and variance 1, so that means of squares are exact. */
function exactNoise(rows: number): tf.Tensor2D {
  const numbers = new RandomStream(1).fillNormal(new Float32Array(rows));
  const noise = tf.tensor2d(numbers, [rows, 1]);
  const { mean, variance } = tf.moments(noise, 0);
  return tf.div(tf.sub(noise, mean), tf.sqrt(variance));
}

/** Mean, deviation and temperature after many updates before a peak. */
function learnPeak(
  options: { initialAlpha: number | null; targetEntropy?: number },
) {
  const model = peakModel();
  const optimizer = adam();
  const state = initSacState(model, new RandomStream(1), {
    optimizer,
    initialAlpha: options.initialAlpha,
  });
  const rows = 32;
  const zeros = tf.zeros([rows, 1]);
  const flags = tf.ones<tf.Rank.R1>([rows]);
  const noise = exactNoise(rows);
  const batch = {
    observations: zeros,
    actions: zeros,
    rewards: flags,
    terminated: flags,
    nextObservations: zeros,
  };
  const { learn: update } = sacUpdate(model, {
    optimizer,
    targetEntropy: options.targetEntropy,
  });
  const step = compileStep(
    (state: SacState, { learningRate }) =>
      update(state, batch, {
        learningRate: learningRate as tf.Scalar,
        criticLearningRate: tf.scalar(0),
        tau: tf.scalar(0),
        alpha: tf.scalar(0.36),
        noise,
        nextNoise: noise,
      }),
    { state, inputs: { learningRate: { shape: [], dtype: "float32" } } },
  );
  for (let i = 0; i < 2000; i++) {
    step.run({ learningRate: 0.05 * Math.pow(0.01, i / 2000) });
  }
  const { policy, temperature } = step.read();
  const [mean, logStd] = policy.parameters.data;
  const alpha = temperature.logAlpha && Math.exp(temperature.logAlpha.data[0]);
  step.close();
  return { mean, std: Math.exp(logStd), alpha };
}

Deno.test("before a parabola the policy becomes the normal distribution exp(Q / alpha)", () => {
  const { mean, std } = learnPeak({ initialAlpha: null });
  assertAlmostEquals(mean, PEAK.at, 1e-3);
  assertAlmostEquals(std, Math.sqrt(0.36 / PEAK.curvature), 1e-3);
});

Deno.test("the temperature becomes the one at which the entropy is as wanted", () => {
  const wanted = 0.2;
  const targetEntropy = Math.log(wanted) + 0.5 * Math.log(2 * Math.PI * Math.E);
  const { std, alpha } = learnPeak({ initialAlpha: 1, targetEntropy });
  assertAlmostEquals(std, wanted, 1e-3);
  assertAlmostEquals(alpha!, PEAK.curvature * wanted ** 2, 1e-3);
});

Deno.test("the entropy that is wanted is by default minus the size of an action", () => {
  const { state, run } = setup();
  const byDefault = run(state, {}).stats.temperature_loss!.arraySync();
  const options = { targetEntropy: -2 };
  const given = run(state, {}, options).stats.temperature_loss!.arraySync();
  assert(byDefault === given);
});

Deno.test("what cannot be updated is one clear error", () => {
  assertThrows(
    () => sacUpdate(continuousModel({ distribution: "mixture" })),
    TypeError,
    "Cannot update a mixture without a V function",
  );
  const model = continuousModel();
  const random = new RandomStream(1);
  const fixed = initSacState(model, random, { initialAlpha: null });
  assertThrows(
    () =>
      sacUpdate(model).learn(fixed, continuousBatch(1), {
        ...continuousBatch(1),
        learningRate: tf.scalar(0),
        tau: tf.scalar(0),
      }),
    TypeError,
    "inputs.alpha must be given",
  );
  assertThrows(
    () => initSacState(model, random, { initialAlpha: 0 }),
    RangeError,
    "Cannot start with a temperature of 0: expected a number above 0",
  );
});

await tf.setBackend("cpu");

const REWARDS = [1, 0.2, -0.5];

const logSumExp = (values: readonly number[]) =>
  Math.log(values.reduce((sum, it) => sum + Math.exp(it), 0));

/** Values, probabilities and temperature of one state after many updates. */
function learn(options: {
  terminated: 0 | 1;
  gamma?: number;
  alpha?: number;
  targetEntropyFactor?: number;
  /** 1 for each action that is allowed. */
  mask?: number[];
}) {
  const { terminated, gamma = 0.9, alpha, targetEntropyFactor, mask } = options;
  const n = REWARDS.length;
  const model = bandit(n);
  const optimizer = adam();
  const state = initSacState(model, new RandomStream(1), {
    optimizer,
    initialAlpha: alpha === undefined ? 1 : null,
  });
  const { learn: update } = discreteSacUpdate(model, {
    optimizer,
    gamma,
    targetEntropyFactor,
  });
  const batch = {
    observations: tf.ones([n, 1]),
    actions: tf.range(0, n, 1, "int32"),
    rewards: tf.tensor1d(REWARDS),
    terminated: tf.fill([n], terminated) as tf.Tensor1D,
    nextObservations: tf.ones([n, 1]),
    ...(mask && {
      actionMasks: tf.tile(tf.tensor2d([mask], [1, n], "int32"), [n, 1]),
      nextActionMasks: tf.tile(tf.tensor2d([mask], [1, n], "int32"), [n, 1]),
    }),
  };
  const step = compileStep(
    (state: SacState, { learningRate }) =>
      update(state, batch, {
        learningRate: learningRate as tf.Scalar,
        tau: tf.scalar(0.1),
        ...(alpha !== undefined && { alpha: tf.scalar(alpha) }),
      }),
    { state, inputs: { learningRate: { shape: [], dtype: "float32" } } },
  );
  for (let i = 0; i < 1500; i++) {
    step.run({ learningRate: 0.05 * Math.pow(0.01, i / 1500) });
  }
  const { critics, policy, temperature } = step.read();
  step.close();
  const logits = Array.from(policy.logits.data);
  return {
    q: Array.from(critics["qf1/table"].data),
    probabilities: logits.map((it) => Math.exp(it - logSumExp(logits))),
    alpha: temperature.logAlpha && Math.exp(temperature.logAlpha.data[0]),
  };
}

Deno.test("a bandit's values are its rewards and its policy softmax(r / alpha)", () => {
  const alpha = 0.5;
  const { q, probabilities } = learn({ terminated: 1, alpha });
  const soft = REWARDS.map((it) => it / alpha);
  REWARDS.forEach((reward, a) => {
    assertAlmostEquals(q[a], reward, 1e-3);
    const expected = Math.exp(soft[a] - logSumExp(soft));
    assertAlmostEquals(probabilities[a], expected, 1e-3);
  });
});

Deno.test("a state without end is worth alpha logsumexp(r / alpha) / (1 - gamma)", () => {
  const [alpha, gamma] = [0.5, 0.8];
  const { q } = learn({ terminated: 0, alpha, gamma });
  const soft = REWARDS.map((it) => it / alpha);
  const value = alpha * logSumExp(soft) / (1 - gamma);
  REWARDS.forEach((reward, a) =>
    assertAlmostEquals(q[a], reward + gamma * value, 5e-3)
  );
});

Deno.test("the temperature becomes the one at which the entropy is the wanted share", () => {
  const targetEntropyFactor = 0.7;
  const { probabilities, alpha } = learn({
    terminated: 1,
    targetEntropyFactor,
  });
  const entropy = -probabilities.reduce((sum, p) => sum + p * Math.log(p), 0);
  assertAlmostEquals(entropy, targetEntropyFactor * Math.log(3), 1e-3);
  // Two probabilities of softmax(r / alpha) determine the temperature.
  const [a, b] = probabilities;
  const implied = (REWARDS[0] - REWARDS[1]) / Math.log(a / b);
  assertAlmostEquals(alpha!, implied, 2e-3);
});

Deno.test("with masks, values and entropies are those of the allowed actions", () => {
  const mask = [0, 1, 1], allowed = [1, 2];
  const [alpha, gamma] = [0.5, 0.8];
  const { q } = learn({ terminated: 0, alpha, gamma, mask });
  const soft = allowed.map((a) => REWARDS[a] / alpha);
  const value = alpha * logSumExp(soft) / (1 - gamma);
  REWARDS.forEach((reward, a) =>
    assertAlmostEquals(q[a], reward + gamma * value, 5e-3)
  );
  // All three would allow more entropy than two have.
  const targetEntropyFactor = 0.9;
  const found = learn({ terminated: 1, targetEntropyFactor, mask });
  const shares = allowed.map((a) => found.probabilities[a]);
  const sum = shares.reduce((a, b) => a + b);
  const entropy = -shares.reduce(
    (total, it) => total + it / sum * Math.log(it / sum),
    0,
  );
  assertAlmostEquals(entropy, targetEntropyFactor * Math.log(2), 1e-3);
});
