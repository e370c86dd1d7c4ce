import { mapParams, RandomStream, sgd } from "@bellman/compute";
import { deterministicPolicy, qFunction } from "@bellman/policies";
import type { ReplayBatch } from "@bellman/agent";
import { assert, assertEquals, assertNotEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { initTd3State, td3Update } from "./update.ts";

await tf.setBackend("cpu");

const BOX = { type: "box", low: -1, high: 1, dtype: "float32" } as const;
const SPACES = {
  observationSpace: { ...BOX, shape: [2] },
  actionSpace: { ...BOX, shape: [1] },
  networkOptions: { hiddenSizes: [4] },
};
const MODEL = {
  policy: deterministicPolicy(SPACES),
  qf: qFunction(SPACES),
};
const BATCH: ReplayBatch = {
  observations: tf.tensor2d([[0.5, -1], [1, 0.25]]),
  actions: tf.tensor2d([[0.25], [-0.5]]),
  rewards: tf.tensor1d([1, -1]),
  terminated: tf.tensor1d([0, 1]),
  nextObservations: tf.tensor2d([[1, 1], [-1, 2]]),
};
const INPUTS = { learningRate: tf.scalar(0.1), tau: tf.scalar(0.5) };
const NOISE = tf.tensor2d([[3], [-0.1]]);

/** Runs the update of the critics, and returns errors by row. */
function errorsOf(
  batch: ReplayBatch,
  options = {},
  nextNoise = NOISE,
): number[] {
  const { critics } = td3Update(MODEL, options);
  const state = initTd3State(MODEL, new RandomStream(3));
  const { results } = critics(state, batch, { ...INPUTS, nextNoise });
  return results!.tdErrors.arraySync() as number[];
}

Deno.test("a terminated row does not bootstrap, another one does by its own discount", () => {
  const [open, ended] = errorsOf(BATCH, { gamma: 0.9 });
  const [shorter, same] = errorsOf(BATCH, { gamma: 0.5 });
  assertNotEquals(open, shorter);
  assertEquals(ended, same);
  const discounts = tf.tensor1d([0.5, 0.5]);
  const [own] = errorsOf({ ...BATCH, discounts }, { gamma: 0.9 });
  assertEquals(own, shorter);
});

Deno.test("noise of the target policy is clipped, and so are its actions", () => {
  const farther = tf.tensor2d([[30], [-0.1]]);
  const options = { targetNoise: 0.2, targetNoiseClip: 0.5 };
  assertEquals(errorsOf(BATCH, options), errorsOf(BATCH, options, farther));
  const clipped = { targetNoise: 99, targetNoiseClip: 99 };
  assertEquals(errorsOf(BATCH, clipped), errorsOf(BATCH, clipped, farther));
  const none = tf.zeros<tf.Rank.R2>([2, 1]);
  assertNotEquals(errorsOf(BATCH, options), errorsOf(BATCH, options, none));
});

Deno.test("the critics' update leaves policy and targets; the whole one moves them after", () => {
  const options = { optimizer: sgd() };
  const state = initTd3State(MODEL, new RandomStream(3), options);
  const { critics, learn } = td3Update(MODEL, options);
  const first = critics(state, BATCH, { ...INPUTS, nextNoise: NOISE }).state;
  for (const part of ["policy", "targetPolicy", "targets"] as const) {
    assertEquals(first[part], state[part]);
  }
  const second = learn(state, BATCH, { ...INPUTS, nextNoise: NOISE }).state;
  const numbers = (params: typeof state.critics) =>
    mapParams(params, (it) => it.arraySync() as never);
  assertEquals(numbers(second.critics), numbers(first.critics));
  for (const part of ["policy", "targetPolicy", "targets"] as const) {
    assertNotEquals(numbers(second[part]), numbers(state[part]));
  }
});

Deno.test("weights weigh the critics' loss alone, and an update leaks nothing", () => {
  const state = initTd3State(MODEL, new RandomStream(3));
  const { learn } = td3Update(MODEL);
  const lossOf = (weights?: tf.Tensor1D) => {
    const { stats } = learn(state, { ...BATCH, weights }, INPUTS);
    return stats.q_loss!.dataSync()[0];
  };
  const [first, second] = [[2, 0], [0, 2]].map((it) => lossOf(tf.tensor1d(it)));
  assert(Math.abs((first + second) / 2 - lossOf()) < 1e-5);
  const before = tf.memory().numTensors;
  const made = learn(state, BATCH, INPUTS);
  const kept = [
    ...Object.values(made.state).flatMap((it) => Object.values(it)),
    ...Object.values(made.stats),
    ...Object.values(made.results!),
  ];
  assertEquals(tf.memory().numTensors - before, new Set(kept).size);
});
