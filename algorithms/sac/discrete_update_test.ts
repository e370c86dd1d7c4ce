import { assertAlmostEquals } from "@std/assert";
import { adam, compileStep, RandomStream } from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";
import { discreteSacUpdate } from "./discrete_update.ts";
import type { SacState } from "./model.ts";
import { initSacState } from "./update.ts";
import { bandit } from "./testdata/models.ts";

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
}) {
  const { terminated, gamma = 0.9, alpha, targetEntropyFactor } = options;
  const n = REWARDS.length;
  const model = bandit(n);
  const optimizer = adam();
  const state = initSacState(model, new RandomStream(1), {
    optimizer,
    initialAlpha: alpha === undefined ? 1 : null,
  });
  const update = discreteSacUpdate(model, {
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
  for (let i = 0; i < 4000; i++) {
    step.run({ learningRate: 0.05 * Math.pow(0.01, i / 4000) });
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
  // Two probabilities of softmax(r / alpha) tell the temperature.
  const [a, b] = probabilities;
  const implied = (REWARDS[0] - REWARDS[1]) / Math.log(a / b);
  assertAlmostEquals(alpha!, implied, 2e-3);
});
