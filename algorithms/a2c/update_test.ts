import { assert, assertEquals } from "@std/assert";
import { paramsToArrays, RandomStream, sgd } from "@bellman/compute";
import { actorCritic } from "@bellman/policies";
import * as tf from "@tensorflow/tfjs";
import { type A2CBatch, a2cUpdate, initA2CState } from "./update.ts";

await tf.setBackend("cpu");

function setup(valueNetwork: "shared" | "separate") {
  const model = actorCritic({
    observationSpace: { type: "discrete", n: 3 },
    actionSpace: { type: "discrete", n: 2 },
    network: "mlp",
    networkOptions: { hiddenSizes: [4] },
    valueNetwork,
  });
  const params = model.init(new RandomStream(3));
  const batch: A2CBatch = {
    observations: model.observationTensor(new Int32Array([0, 1, 2]), 3),
    actions: tf.tensor1d([0, 1, 1], "int32"),
    advantages: tf.tensor1d([1, -2, 0.5]),
    returns: tf.tensor1d([1, 0, 2]),
  };
  const hyperparameters = {
    learningRate: tf.scalar(0.1),
    entropyCoefficient: tf.scalar(0),
  };
  return { model, params, batch, hyperparameters };
}

Deno.test("an update changes neither what it was given nor the count of tensors but for its results", () => {
  const { model, params, batch, hyperparameters } = setup("shared");
  const optimizer = sgd();
  const state = initA2CState(params, { optimizer });
  const update = a2cUpdate(model, { optimizer });
  const before = paramsToArrays(params);
  const tensors = tf.memory().numTensors;
  const after = update(state, batch, hyperparameters);
  assertEquals(paramsToArrays(params), before);
  assertEquals(
    tf.memory().numTensors - tensors,
    Object.keys(after.state.policy).length +
      Object.keys(after.state.optimizer).length +
      Object.keys(after.stats).length,
  );
});

Deno.test("the step is as long as the clipped gradient", () => {
  const { model, params, batch, hyperparameters } = setup("shared");
  const optimizer = sgd();
  const state = initA2CState(params, { optimizer });
  const update = a2cUpdate(model, { optimizer, maxGradNorm: 0.25 });
  const after = update(state, batch, hyperparameters);
  assert(after.stats.grad_norm.arraySync() > 0.25);
  let square = 0;
  for (const path in params) {
    const change = tf.sub(after.state.policy[path], params[path]);
    square += tf.sum(tf.square(change)).dataSync()[0];
  }
  assert(Math.abs(Math.sqrt(square) - 0.1 * 0.25) < 1e-6);
});

for (const valueNetwork of ["shared", "separate"] as const) {
  Deno.test(`separate objectives keep to their parameters, ${valueNetwork} trunk`, () => {
    const { model, params, batch, hyperparameters } = setup(valueNetwork);
    const optimizers = { optimizer: sgd(), valueOptimizer: sgd() };
    const state = initA2CState(params, optimizers);
    const update = a2cUpdate(model, { ...optimizers, maxGradNorm: null });
    // Without a separate learning rate the value uses the policy's; with
    // one of 0 it stays, and only the policy moves.
    const after = update(state, batch, {
      ...hyperparameters,
      valueLearningRate: tf.scalar(0),
    });
    for (const path in params) {
      const change = tf.max(
        tf.abs(tf.sub(after.state.policy[path], params[path])),
      );
      const moved = change.dataSync()[0] > 0;
      assertEquals(moved, !path.startsWith("vf/"), path);
    }
  });
}

Deno.test("with trunks apart, separate objectives take the shared one's gradients", () => {
  const { model, params, batch, hyperparameters } = setup("separate");
  const shared = a2cUpdate(model, {
    optimizer: sgd(),
    valueCoefficient: 1,
    maxGradNorm: null,
  })({ policy: params, optimizer: {} }, batch, hyperparameters);
  const separate = a2cUpdate(model, {
    optimizer: sgd(),
    valueOptimizer: sgd(),
    maxGradNorm: null,
  })({ policy: params, optimizer: {} }, batch, hyperparameters);
  for (const path in params) {
    const off = tf.max(tf.abs(
      tf.sub(shared.state.policy[path], separate.state.policy[path]),
    ));
    assert(off.dataSync()[0] < 1e-7, path);
  }
});
