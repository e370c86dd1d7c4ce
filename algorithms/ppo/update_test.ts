import { a2cUpdate, actorCriticSteps } from "@bellman/a2c";
import {
  adam,
  mapParams,
  paramsToArrays,
  RandomStream,
} from "@bellman/compute";
import { actorCritic } from "@bellman/policies";
import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { type PpoBatch, ppoUpdate, type PpoUpdateOptions } from "./update.ts";

await tf.setBackend("cpu");

const OBSERVATIONS = Int32Array.of(0, 1, 2, 1);

/** A small model, its first state, and a batch of four rows that it acted itself. */
function setup(options: Partial<PpoUpdateOptions> = {}) {
  const model = actorCritic({
    observationSpace: { type: "discrete", n: 3 },
    actionSpace: { type: "discrete", n: 2 },
    network: "mlp",
    networkOptions: { hiddenSizes: [4] },
  });
  const all = { optimizer: adam(), minibatches: 2, ...options };
  const params = model.init(new RandomStream(3));
  const observations = model.observationTensor(OBSERVATIONS, 4);
  const actions = tf.tensor1d([0, 1, 1, 0], "int32");
  const { policy } = model.apply(params, observations);
  const batch: PpoBatch = {
    observations,
    actions,
    oldLogProb: model.distribution.logProb(policy, actions),
    advantages: tf.tensor1d([1, -2, 0.5, 3]),
    returns: tf.tensor1d([1, 0, 2, -1]),
  };
  const inputs = {
    learningRate: tf.scalar(0.1),
    entropyCoefficient: tf.scalar(0.01),
    clipRange: tf.scalar(0.2),
    order: orders([0, 1, 2, 3], [3, 1, 0, 2]),
  };
  const state = actorCriticSteps(all).init(params);
  return { model, state, batch, inputs, options: all };
}

function orders(...epochs: number[][]): tf.Tensor2D {
  return tf.tensor2d(epochs, undefined, "int32");
}

Deno.test("an update of one step is A2C's: the ratio is 1", () => {
  const { model, state, batch, inputs, options } = setup({
    minibatches: 1,
    normalizeAdvantage: false,
  });
  const once = { ...inputs, order: orders([2, 0, 1, 3]) };
  const made = ppoUpdate(model, options)(state, batch, once);
  const wanted = a2cUpdate(model, options)(state, batch, inputs);
  for (const path in wanted.state.policy) {
    const [found, expected] = [made, wanted]
      .map((it) => it.state.policy[path].dataSync());
    found.forEach((it, i) => assertAlmostEquals(it, expected[i], 1e-6));
  }
  assertAlmostEquals(made.stats.approx_kl.arraySync(), 0, 1e-6);
});

Deno.test("rows are learned from in the order of the permutations", () => {
  const { model, state, batch, inputs, options } = setup();
  const update = ppoUpdate(model, options);
  const after = (...epochs: number[][]) =>
    update(state, batch, { ...inputs, order: orders(...epochs) })
      .state.policy["pi/head/kernel"].dataSync().join();
  const first = after([0, 1, 2, 3]);
  assertEquals(after([1, 0, 3, 2]), first); // the same minibatches
  assert(after([2, 3, 0, 1]) !== first);
  assert(after([0, 2, 1, 3]) !== first);
});

Deno.test("the update ends before the step that goes too far", () => {
  const { model, state, batch, inputs, options } = setup({ targetKl: 1e-3 });
  const { state: after, stats } = ppoUpdate(model, options)(
    state,
    batch,
    inputs,
  );
  // The first minibatch is at no distance, the second one is far.
  assertEquals(stats.epochs_done.arraySync(), 0.5);
  assertEquals(stats.stopped_early.arraySync(), 1);
  const first = mapParams(batch, (it) => tf.slice(it, [0], [2]));
  const half = ppoUpdate(model, { ...options, targetKl: null, minibatches: 1 })(
    state,
    first as PpoBatch,
    { ...inputs, order: orders([0, 1]) },
  );
  assertEquals(
    paramsToArrays(after.policy),
    paramsToArrays(half.state.policy),
  );
  assertEquals(
    stats.policy_loss.arraySync(),
    half.stats.policy_loss.arraySync(),
  );
});

Deno.test("an update changes neither what it was given nor the count of tensors but for its results", () => {
  const { model, state, batch, inputs, options } = setup();
  const update = ppoUpdate(model, options);
  const before = paramsToArrays(state.policy);
  const tensors = tf.memory().numTensors;
  const after = update(state, batch, inputs);
  assertEquals(paramsToArrays(state.policy), before);
  assertEquals(
    tf.memory().numTensors - tensors,
    [after.state.policy, after.state.optimizer, after.stats]
      .flatMap((it) => Object.keys(it)).length,
  );
});
