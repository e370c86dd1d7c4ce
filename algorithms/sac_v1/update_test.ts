import { assert, assertAlmostEquals, assertThrows } from "@std/assert";
import { RandomStream, sgd } from "@bellman/compute";
import { addPrefix, pickPrefix } from "@bellman/policies";
import type { SacNumbers } from "@bellman/sac";
import * as tf from "@tensorflow/tfjs";
import { assertDescent } from "../sac/testdata/descent.ts";
import { continuousBatch } from "../sac/testdata/models.ts";
import { valueModel } from "./testdata/models.ts";
import {
  initSacV1State,
  type SacV1State,
  sacV1Update,
  type SacV1UpdateOptions,
} from "./update.ts";

await tf.setBackend("cpu");

function setup(options: SacV1UpdateOptions = {}) {
  const model = valueModel();
  const optimizer = sgd();
  const state = initSacV1State(model, new RandomStream(5), { optimizer });
  const batch = continuousBatch(3);
  const update = sacV1Update(model, { optimizer, ...options });
  const run = (
    state: SacV1State,
    rates: Partial<SacNumbers> = {},
  ) =>
    update(state, batch, {
      learningRate: tf.scalar(0),
      tau: tf.scalar(0),
      noise: batch.noise,
      ...rates,
    });
  return { state, run };
}

Deno.test("Q and V descend the gradients of their losses", () => {
  const { state, run } = setup();
  const { state: after } = run(state, { criticLearningRate: tf.scalar(1) });
  assertDescent(state.critics, after.critics, (critics) => {
    const { stats } = run({ ...state, critics });
    return stats.q1_bellman_error.arraySync() +
      stats.q2_bellman_error.arraySync();
  });
  assertDescent(
    state.value,
    after.value,
    (value) => run({ ...state, value }).stats.value_loss.arraySync(),
  );
});

for (
  const options of [
    { policyRegularization: 0.1 },
    { actionPrior: "normal" },
    { actionPrior: "normal", haarnojaPolicyLoss: true },
  ] as const
) {
  Deno.test(`the reparameterized policy descends the gradient of its loss, ${JSON.stringify(options)}`, () => {
    const { state, run } = setup(options);
    const { state: after } = run(state, { learningRate: tf.scalar(1) });
    assertDescent(
      state.policy,
      after.policy,
      (policy) => run({ ...state, policy }).stats.policy_loss.arraySync(),
    );
  });
}

Deno.test("by likelihood ratio the policy moves as reparameterized, in the mean", () => {
  const model = valueModel();
  const optimizer = sgd();
  const state = initSacV1State(model, new RandomStream(5), { optimizer });
  const batch = continuousBatch(3, { rows: 8_000 });
  const [pathwise, score] = [true, false].map((reparameterize) => {
    const update = sacV1Update(model, {
      optimizer,
      reparameterize,
      actionPrior: "normal",
    });
    const { state: after } = update(state, batch, {
      learningRate: tf.scalar(1),
      tau: tf.scalar(0),
      noise: batch.noise,
    });
    const changes = Object.keys(state.policy).map((path) =>
      tf.reshape(tf.sub(after.policy[path], state.policy[path]), [-1])
    );
    return tf.concat(changes).dataSync();
  });
  const largest = Math.max(...pathwise.map(Math.abs));
  score.forEach((it, i) =>
    assertAlmostEquals(it, pathwise[i], 0.1 * largest, `number ${i}`)
  );
});

Deno.test("all gradients are those before the update", () => {
  const { state, run } = setup();
  const all = run(state, { learningRate: tf.scalar(0.5) }).state;
  const policy = run(state, {
    learningRate: tf.scalar(0.5),
    criticLearningRate: tf.scalar(0),
  }).state.policy;
  for (const path in policy) {
    assert(tf.all(tf.equal(policy[path], all.policy[path])).dataSync()[0]);
  }
});

Deno.test("the sound policy loss takes either twin, haarnoja's the first", () => {
  const losses = (haarnojaPolicyLoss: boolean, reparameterize: boolean) => {
    const { state, run } = setup({ haarnojaPolicyLoss, reparameterize });
    const swapped = {
      ...addPrefix(pickPrefix(state.critics, "qf2"), "qf1"),
      ...addPrefix(pickPrefix(state.critics, "qf1"), "qf2"),
    };
    return [state, { ...state, critics: swapped }].map((it) =>
      run(it).stats.policy_loss.arraySync()
    );
  };
  for (const reparameterize of [true, false]) {
    const [sound, soundSwapped] = losses(false, reparameterize);
    assertAlmostEquals(sound, soundSwapped, 1e-6);
    const [first, second] = losses(true, reparameterize);
    assert(Math.abs(first - second) > 1e-2);
  }
});

Deno.test("the reparameterized loss knows the prior, haarnoja's does not", () => {
  const loss = (actionPrior: "uniform" | "normal", haarnoja: boolean) => {
    const { state, run } = setup({ actionPrior, haarnojaPolicyLoss: haarnoja });
    return run(state).stats.policy_loss.arraySync();
  };
  // Both entries are sums over the same two numbers of an action.
  assert(
    loss("normal", false) - loss("uniform", false) > Math.log(2 * Math.PI),
  );
  assert(loss("normal", true) === loss("uniform", true));
});

Deno.test("the regularisation pulls means and deviations to those of the standard normal", () => {
  const { state, run } = setup({ policyRegularization: 0.5 });
  const { stats } = run(state);
  const { policy } = valueModel();
  const { observations } = continuousBatch(3);
  const parameters = policy.apply(state.policy, observations).policy;
  assertAlmostEquals(
    stats.policy_regularization_loss.arraySync(),
    0.5 * tf.mean(tf.square(parameters)).dataSync()[0],
    1e-6,
  );
  assertAlmostEquals(
    stats.policy_loss.arraySync(),
    stats.policy_kl_loss.arraySync() +
      stats.policy_regularization_loss.arraySync(),
    1e-6,
  );
});

Deno.test("a mixture is not reparameterized", () => {
  assertThrows(
    () => sacV1Update(valueModel("mixture"), { reparameterize: true }),
    TypeError,
    "Cannot reparameterize a mixture",
  );
});
