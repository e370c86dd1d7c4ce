import { adam, paramsToArrays, RandomStream } from "@bellman/compute";
import { qPolicy } from "@bellman/policies";
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertNotEquals,
} from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { returnForm } from "./loss.ts";
import {
  type DqnBatch,
  dqnUpdate,
  type DqnUpdateOptions,
  initDqnState,
} from "./update.ts";

await tf.setBackend("cpu");

const FORMS = {
  mean: returnForm(),
  categorical: returnForm({
    values: "categorical",
    atoms: 5,
    valueRange: [-2, 2],
  }),
  quantile: returnForm({ values: "quantile", atoms: 5 }),
};

/** A noisy dueling network, its first state, and a batch of four rows. */
function setup(
  { sigma0, ...options }: DqnUpdateOptions & { sigma0?: number } = {},
) {
  const policy = qPolicy({
    observationSpace: { type: "discrete", n: 4 },
    actionSpace: { type: "discrete", n: 3 },
    networkOptions: { hiddenSizes: [6] },
    dueling: true,
    ...options.returns,
    ...(sigma0 !== undefined && { sigma0 }),
  });
  const optimizer = adam();
  const batch: DqnBatch = {
    observations: tf.eye(4),
    nextObservations: tf.reverse(tf.eye(4), 0),
    actions: tf.tensor1d([0, 1, 2, 1], "int32"),
    rewards: tf.tensor1d([1, -2, 0.5, 1]),
    terminated: tf.tensor1d([0, 1, 0, 0]),
  };
  const inputs = {
    learningRate: tf.scalar(0.01),
    tau: tf.scalar(0),
    ...(sigma0 !== undefined && {
      noise: tf.randomNormal<tf.Rank.R2>(
        [3, policy.noise.size],
        0,
        1,
        "float32",
        7,
      ),
    }),
  };
  return {
    policy,
    batch,
    inputs,
    state: initDqnState(policy, new RandomStream(3), optimizer),
    update: dqnUpdate(policy, { ...options, optimizer }),
  };
}

for (const [name, returns] of Object.entries(FORMS)) {
  Deno.test(`a terminated row has its reward alone for a target, ${name}`, () => {
    const { state, batch, inputs, update } = setup({ returns });
    const one = (nextObservations: tf.Tensor, terminated: number) =>
      update(state, {
        ...batch,
        nextObservations,
        terminated: tf.fill([4], terminated),
      }, inputs).stats.target_mean.arraySync();
    const { nextObservations: next, observations: other } = batch;
    const still = tf.mul(other, 0.1);
    assertAlmostEquals(one(next, 1), one(still, 1), 1e-6);
    assertNotEquals(one(next, 0), one(still, 0));
  });

  Deno.test(`an update leaks nothing and leaves its inputs, ${name}`, () => {
    const { state, batch, inputs, update } = setup({ returns, sigma0: 0.5 });
    const before = JSON.stringify(paramsToArrays(state.policy));
    tf.tidy(() => {
      const { numTensors } = tf.memory();
      const made = update(state, batch, inputs);
      const kept = [
        ...Object.values(made.state).flatMap((it) => Object.values(it)),
        ...Object.values(made.stats),
        ...Object.values(made.results),
      ];
      assertEquals(tf.memory().numTensors - numTensors, new Set(kept).size);
    });
    assertEquals(JSON.stringify(paramsToArrays(state.policy)), before);
  });
}

Deno.test("the target network is copied, mixed or kept", () => {
  const { state, batch, inputs, update } = setup();
  const after = (tau: number) => {
    const made = update(state, batch, { ...inputs, tau: tf.scalar(tau) });
    const [target, online] = [made.state.target, made.state.policy];
    return [target, online].map((it) =>
      it["advantage/head/bias"].arraySync() as number[]
    );
  };
  const first = state.policy["advantage/head/bias"].arraySync() as number[];
  assertEquals(after(0)[0], first);
  const [copied, online] = after(1);
  assertEquals(copied, online);
  const [mixed] = after(0.5);
  mixed.forEach((it, i) =>
    assert(Math.abs(it - (first[i] + online[i]) / 2) < 1e-6)
  );
});

Deno.test("the next action is one that is allowed, of one network or of both", () => {
  for (const double of [true, false]) {
    const { policy, state, batch, inputs, update } = setup({ double });
    const values = policy.apply(state.target, batch.nextObservations).policy;
    // All but the worst are forbidden: targets have the least value.
    const worst = tf.argMin(values, 1);
    const nextActionMasks = tf.oneHot(worst, 3) as tf.Tensor2D;
    const { stats } = update(state, { ...batch, nextActionMasks }, inputs);
    const least = tf.min(values, 1).arraySync() as number[];
    const { rewards, terminated } = batch;
    const targets = (rewards.arraySync() as number[]).map((it, i) =>
      it + 0.99 * (1 - terminated.arraySync()[i]) * least[i]
    );
    const mean = targets.reduce((a, b) => a + b) / 4;
    assert(Math.abs(stats.target_mean.arraySync() - mean) < 1e-5);
  }
});

Deno.test("weights weigh the loss, and not the priorities", () => {
  const { state, batch, inputs, update } = setup();
  const plain = update(state, batch, inputs);
  const weights = tf.tensor1d([2, 0, 1, 1]);
  const weighed = update(state, { ...batch, weights }, inputs);
  assertEquals(
    weighed.results.tdErrors.arraySync(),
    plain.results.tdErrors.arraySync(),
  );
  assertNotEquals(weighed.stats.loss.arraySync(), plain.stats.loss.arraySync());
});
