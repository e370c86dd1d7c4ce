import { type Params, RandomStream } from "@bellman/compute";
import { actorCritic, qFunction } from "@bellman/policies";
import { retrace } from "@bellman/returns";
import type { BoxSpace, MultiDiscreteSpace } from "@bellman/types";
import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import {
  type ContinuousAcerBatch,
  continuousAcerGradients,
  initDuelingModel,
} from "./continuous.ts";
import type { AcerGradientsOptions } from "./update.ts";

await tf.setBackend("cpu");

const ROWS = 6;
const SAMPLES = 3;
const KERNEL = "pi/head/kernel";
const SPACE: BoxSpace = {
  type: "box",
  shape: [2],
  low: -1,
  high: 1,
  dtype: "float32",
};

const SEVERAL: MultiDiscreteSpace = { type: "multiDiscrete", nvec: [2, 3] };

/** Five steps of one environment and the observation after them. */
function setup(
  behaviour: "own" | "another" = "another",
  actionSpace: BoxSpace | MultiDiscreteSpace = SPACE,
) {
  const options = {
    observationSpace: SPACE,
    actionSpace,
    networkOptions: { hiddenSizes: [5], activation: "tanh" } as const,
  };
  const model = {
    policy: actorCritic({
      ...options,
      network: "mlp",
      valueNetwork: "separate",
    }),
    advantage: qFunction(options),
  };
  const random = new RandomStream(4);
  const params = initDuelingModel(model, random);
  params[KERNEL] = tf.mul(params[KERNEL], 100);
  const normal = (rows: number, size = 2) =>
    tf.tensor2d(random.fillNormal(new Float32Array(size * rows)), [rows, size]);
  const observations = normal(ROWS);
  const { policy } = model.policy.apply(params, observations);
  const { noise, parameterSize } = model.policy.distribution;
  const isBox = actionSpace === SPACE;
  const noises = (rows: number) =>
    isBox ? normal(rows) : tf.tensor2d(
      random.fillUniform(new Float32Array(rows * noise.size)),
      [rows, noise.size],
    );
  const batch: ContinuousAcerBatch = {
    observations,
    actions: isBox ? normal(ROWS) : tf.tensor2d(
      [0, 2, 1, 0, 1, 1, 0, 1, 1, 2, 0, 0],
      [ROWS, 2],
      "int32",
    ),
    rewards: tf.tensor1d([1, -1, 2, 0.5, -2, 0]),
    terminated: tf.tensor1d([0, 0, 1, 0, 0, 0]),
    taken: tf.tensor1d([1, 1, 1, 1, 1, 0]),
    behaviour: behaviour === "own"
      ? policy
      : tf.add(policy, tf.mul(0.5, normal(ROWS, parameterSize))),
    noise: noises(ROWS),
    sampleNoise: noises(SAMPLES * ROWS),
  };
  return { model, params, batch };
}

function gradientsOf(
  { model, params, batch }: ReturnType<typeof setup>,
  options: Partial<AcerGradientsOptions> = {},
  average: Params = params,
) {
  const state = { policy: params, average };
  return continuousAcerGradients(model, state, batch, {
    numEnvs: 1,
    ...options,
  });
}

function distance(a: Params, b: Params, of = ""): number {
  return Object.keys(a).filter((path) => path.startsWith(of)).reduce(
    (sum, path) =>
      sum + tf.sum(tf.squaredDifference(a[path], b[path])).dataSync()[0],
    0,
  );
}

Deno.test("values of actions agree with V in the mean of the sampled ones", () => {
  const it = setup();
  const { model, params, batch } = it;
  const { policy, value } = model.policy.apply(params, batch.observations);
  // With the sampled action itself as the taken one, Q is V.
  const action = model.policy.distribution.sample(policy, batch.noise);
  const own = {
    ...it,
    batch: { ...batch, actions: action, sampleNoise: batch.noise },
  };
  const { statistics } = gradientsOf(own, { gamma: 0 });
  const [v, r] = [value.dataSync(), batch.rewards.dataSync()];
  const { behaviour } = batch;
  const { distribution } = model.policy;
  const ratio = tf.exp(tf.sub(
    distribution.logProb(policy, action),
    distribution.logProb(behaviour, action),
  )).dataSync();
  const loss = [0, 1, 2, 3, 4].reduce((sum, t) => {
    const error = r[t] - v[t];
    return sum + (error ** 2 + (Math.min(1, ratio[t]) * error) ** 2) / 2;
  }, 0);
  const found = statistics.q_loss.dataSync()[0];
  assertAlmostEquals(found, loss / 5, 1e-4);
});

for (const space of [SPACE, SEVERAL]) {
  Deno.test(`on-policy without limits the policy's gradient is that of the corrected returns, ${space.type}`, () => {
    isThatOfReturns(setup("own", space));
  });
}

function isThatOfReturns(it: ReturnType<typeof setup>): void {
  const { model, params, batch } = it;
  const found = gradientsOf(it, {
    importanceClip: 1e30,
    delta: 1e30,
    entropyCoefficient: 0,
  }).gradients;
  const { value } = model.policy.apply(params, batch.observations);
  const v = value.arraySync();
  const [rewards, terminated] = [batch.rewards, batch.terminated]
    .map((x) => Array.from(x.dataSync()).slice(0, 5));
  // With ratios of 1, Qopc - V has the Q-values left in.
  const q = qValues(it);
  const targets = retrace({
    rewards,
    terminated,
    truncated: [0, 0, 0, 0, 0],
    values: v.slice(0, 5),
    qValues: q.slice(0, 5),
    ratios: [1, 1, 1, 1, 1],
    lastValues: [v[5]],
  }, { numEnvs: 1, numSteps: 5 });
  const advantages = tf.tensor1d(
    [...targets].map((target, t) => target - v[t]).concat(0),
  );
  const wanted = tf.grad((kernel: tf.Tensor) => {
    const { policy } = model.policy.apply(
      { ...params, [KERNEL]: kernel },
      batch.observations,
    );
    const logProb = model.policy.distribution.logProb(policy, batch.actions);
    return tf.neg(tf.div(tf.sum(tf.mul(logProb, advantages)), 5));
  })(params[KERNEL]).dataSync();
  found[KERNEL].dataSync().forEach((number, i) =>
    assertAlmostEquals(number, wanted[i], 1e-4)
  );
}

Deno.test("several discrete actions are traced by the ratio of all of them", () => {
  const it = setup("another", SEVERAL);
  const { model, params, batch } = it;
  const { distribution } = model.policy;
  const { policy, value } = model.policy.apply(params, batch.observations);
  const ratios = tf.exp(tf.sub(
    distribution.logProb(policy, batch.actions),
    distribution.logProb(batch.behaviour, batch.actions),
  )).arraySync() as number[];
  const v = value.arraySync(), q = qValues(it);
  const [rewards, terminated] = [batch.rewards, batch.terminated]
    .map((x) => Array.from(x.dataSync()).slice(0, 5));
  const targets = retrace({
    rewards,
    terminated,
    truncated: [0, 0, 0, 0, 0],
    values: v.slice(0, 5),
    qValues: q.slice(0, 5),
    ratios: ratios.slice(0, 5),
    lastValues: [v[5]],
  }, { numEnvs: 1, numSteps: 5, gamma: 0.99 });
  const loss = [...targets].reduce((sum, target, t) => {
    const error = target - q[t];
    return sum + (error ** 2 + (Math.min(1, ratios[t]) * error) ** 2) / 2;
  }, 0);
  const { statistics } = gradientsOf(it);
  assertAlmostEquals(statistics.q_loss.dataSync()[0], loss / 5, 1e-4);
});

/** Values of the taken actions, written out sample by sample. */
function qValues({ model, params, batch }: ReturnType<typeof setup>): number[] {
  const advantageParams = Object.fromEntries(
    Object.entries(params).filter(([path]) => path.startsWith("advantage/"))
      .map(([path, it]) => [path.slice("advantage/".length), it]),
  );
  const of = (actions: tf.Tensor) =>
    model.advantage.apply(advantageParams, batch.observations, actions)
      .dataSync();
  const { policy, value } = model.policy.apply(params, batch.observations);
  const noises = tf.split(batch.sampleNoise, SAMPLES) as tf.Tensor2D[];
  const baselines = noises.map((noise) =>
    of(model.policy.distribution.sample(policy, noise))
  );
  const taken = of(batch.actions), v = value.dataSync();
  return Array.from(v, (it, t) => {
    const mean = baselines.reduce((sum, row) => sum + row[t], 0) / SAMPLES;
    return it + taken[t] - mean;
  });
}

Deno.test("the trust region moves the policy's gradient only", () => {
  for (const space of [SPACE, SEVERAL]) {
    moved(setup("another", space), space === SPACE ? 2 : 5);
  }
});

function moved(it: ReturnType<typeof setup>, size: number): void {
  const average = {
    ...it.params,
    "pi/head/bias": tf.range(0, size),
  };
  const free = gradientsOf(it, { trustRegion: false }, average).gradients;
  const bound = gradientsOf(it, { delta: 1e-4 }, average).gradients;
  assert(distance(free, bound, "pi/") > 1e-4);
  for (const  of of["vf/", "advantage/"]) {
    assert(distance(free, bound, of) < 1e-9);
  }
  const wide = gradientsOf(it, { delta: 1e30 }, average).gradients;
  assert(distance(free, wide) < 1e-9);
}

Deno.test("the bias correction moves the policy's gradient only, and off-policy only", () => {
  for (const behaviour of ["another", "own"] as const) {
    const it = setup(behaviour);
    const [on, off] = [true, false].map((biasCorrection) =>
      gradientsOf(it, { importanceClip: 1, biasCorrection, trustRegion: false })
        .gradients
    );
    assertEquals(distance(on, off, "pi/") > 1e-6, behaviour === "another");
    assert(distance(on, off, "vf/") < 1e-9);
    assert(distance(on, off, "advantage/") < 1e-9);
  }
});

Deno.test("every loss counts a segment by its importance weight", () => {
  const it = setup();
  const weighted = (weight: number) =>
    gradientsOf({
      ...it,
      batch: { ...it.batch, weights: tf.tensor1d([weight]) },
    });
  const [plain, one, half] = [gradientsOf(it), weighted(1), weighted(0.5)];
  assert(distance(plain.gradients, one.gradients) < 1e-9);
  const twice = Object.fromEntries(
    Object.entries(half.gradients).map(([path, x]) => [path, tf.mul(x, 2)]),
  );
  assert(distance(plain.gradients, twice) < 1e-8);
  assertAlmostEquals(
    half.statistics.loss.dataSync()[0],
    plain.statistics.loss.dataSync()[0] / 2,
    1e-5,
  );
});

Deno.test("with a recurrent policy values are those of its state", () => {
  const box = { ...SPACE, shape: [4] };
  const model = {
    policy: actorCritic({
      observationSpace: SPACE,
      actionSpace: SPACE,
      network: "lstm",
      networkOptions: { lstmSize: 4 },
    }),
    advantage: qFunction({
      observationSpace: box,
      actionSpace: SPACE,
      networkOptions: { hiddenSizes: [5] },
    }),
  };
  const { batch } = setup();
  const params = initDuelingModel(model, new RandomStream(2));
  const masks = tf.tensor1d([1, 0, 0, 1, 0, 0]);
  const gradientsFrom = (state: number, masks: tf.Tensor1D) =>
    gradientsOf({
      model,
      params,
      batch: { ...batch, masks, state: tf.fill([1, 8], state) },
    });
  const first = gradientsFrom(0.1, masks);
  for (const path in params) {
    if (path === "pi/logStd") continue;
    const numbers = first.gradients[path].dataSync();
    assert(numbers.some((number) => number !== 0), path);
  }
  // An episode that starts with the segment has nothing of the state before.
  assert(distance(first.gradients, gradientsFrom(5, masks).gradients) < 1e-9);
  const without = tf.zeros<tf.Rank.R1>([ROWS]);
  const [a, b] = [0.1, 5].map((it) => gradientsFrom(it, without).gradients);
  assert(distance(a, b, "advantage/") > 1e-4);
  assert(distance(a, b, "vf/") > 1e-4);
});

Deno.test("a row without an action has no weight", () => {
  const it = setup();
  const changed = {
    ...it,
    batch: {
      ...it.batch,
      rewards: tf.tensor1d([1, -1, 2, 0.5, -2, 50]),
      actions: tf.concat([
        tf.slice(it.batch.actions, [0, 0], [5, 2]),
        tf.fill([1, 2], 3),
      ]),
    },
  };
  const [a, b] = [it, changed].map((each) => gradientsOf(each));
  assert(distance(a.gradients, b.gradients) < 1e-9);
  assertAlmostEquals(
    a.statistics.loss.dataSync()[0],
    b.statistics.loss.dataSync()[0],
    1e-5,
  );
});

Deno.test("far from the policy that acted all numbers are finite", () => {
  const it = setup();
  const behaviour = tf.tensor2d(
    Array.from({ length: ROWS }, () => [50, -50, -5, -5]),
  );
  const far = { ...it, batch: { ...it.batch, behaviour } };
  const { gradients, statistics } = gradientsOf(far);
  for (const [name, x] of Object.entries({ ...gradients, ...statistics })) {
    assert(x.dataSync().every(Number.isFinite), name);
  }
});
