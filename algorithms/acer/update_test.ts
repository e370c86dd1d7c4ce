import {
  cloneParams,
  type Params,
  paramsToArrays,
  RandomStream,
  sgd,
  valueAndGradients,
} from "@bellman/compute";
import { type QActorCritic, qActorCritic } from "@bellman/policies";
import { retrace } from "@bellman/returns";
import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import {
  type AcerBatch,
  acerGradients,
  acerUpdate,
  type AcerUpdateOptions,
  initAcerState,
} from "./update.ts";

await tf.setBackend("cpu");

const ROWS = 10;

interface Setup {
  model: QActorCritic;
  params: Params;
  batch: AcerBatch;
}

/** Two segments of four steps; `mu` is another policy, or the model's own. */
function setup(mu: "another" | "own" = "another"): Setup {
  const model = qActorCritic({
    observationSpace: { type: "discrete", n: 5 },
    actionSpace: { type: "discrete", n: 3 },
    network: "mlp",
    networkOptions: { hiddenSizes: [6] },
  });
  const random = new RandomStream(3);
  const params = model.init(random);
  params["pi/head/kernel"] = tf.mul(params["pi/head/kernel"], 100);
  const rows = Array.from({ length: ROWS }, (_, i) => i);
  const observations = model.observationTensor(
    Int32Array.from(rows, (i) => (3 * i) % 5),
    ROWS,
  );
  const own = tf.softmax(model.apply(params, observations).policy);
  const noise = random.fillUniform(new Float32Array(3 * ROWS));
  const batch = {
    observations,
    actions: tf.tensor1d(rows.map((i) => (i * i) % 3), "int32"),
    rewards: tf.tensor1d(rows.map((i) => 4 * Math.sin(3 * i))),
    terminated: tf.tensor1d(rows.map((i) => +(i === 2))),
    taken: tf.tensor1d(rows.map((i) => +(i % 5 < 4))),
    mu: mu === "own"
      ? own
      : tf.softmax(tf.mul<tf.Tensor2D>(4, tf.tensor2d(noise, [ROWS, 3]))),
  };
  return { model, params, batch };
}

function step(
  { model, params, batch }: Setup,
  options: Partial<AcerUpdateOptions>,
) {
  const optimizer = sgd();
  const update = acerUpdate(model, { optimizer, numEnvs: 2, ...options });
  const state = initAcerState(cloneParams(params), optimizer);
  return update(state, batch, { learningRate: tf.scalar(0.1) });
}

/** Another policy in the middle of the trust region. */
function otherAverage(params: Params): Params {
  return { ...params, "pi/head/bias": tf.tensor1d([2, -1, 0]) };
}

function gradientsOf(
  { model, params, batch }: Setup,
  options: Partial<AcerUpdateOptions> = {},
  average = params,
): Params {
  const state = { policy: params, average };
  return acerGradients(model, state, batch, { numEnvs: 2, ...options })
    .gradients;
}

function distance(a: Params, b: Params): number {
  return Object.keys(a).reduce(
    (sum, path) =>
      sum + tf.sum(tf.squaredDifference(a[path], b[path])).dataSync()[0],
    0,
  );
}

Deno.test("an update changes neither what it was given nor the count of tensors but for its results", () => {
  const { model, params, batch } = setup();
  const optimizer = sgd();
  const state = initAcerState(params, optimizer);
  const before = paramsToArrays(params);
  const update = acerUpdate(model, { optimizer, numEnvs: 2 });
  const learningRate = tf.scalar(0.1);
  const tensors = tf.memory().numTensors;
  const after = update(state, batch, { learningRate });
  assertEquals(paramsToArrays(params), before);
  assertEquals(
    tf.memory().numTensors - tensors,
    2 * Object.keys(params).length + Object.keys(after.state.slots).length +
      Object.keys(after.stats).length,
  );
});

Deno.test("the step is as long as the clipped gradient, or as the gradient", () => {
  const it = setup();
  for (const maxGradNorm of [0.25, null]) {
    const { state, stats } = step(it, { maxGradNorm });
    const norm = stats.grad_norm.dataSync()[0];
    assert(norm > 0.25);
    const length = Math.sqrt(distance(state.policy, it.params));
    assertAlmostEquals(length, 0.1 * (maxGradNorm ?? norm), 1e-4);
  }
});

Deno.test("the average takes up the parameters after the step, or before it", () => {
  const it = setup();
  for (const averageOrder of ["after_step", "before_step"] as const) {
    const { state } = step(it, { averageOrder, averageDecay: 0.75 });
    const share = averageOrder === "after_step" ? 0.25 : 0;
    for (const path in it.params) {
      const moved = tf.sub(state.policy[path], it.params[path]);
      const wanted = tf.add(it.params[path], tf.mul(moved, share));
      const found = state.average[path].dataSync();
      wanted.dataSync().forEach((number, i) =>
        assertAlmostEquals(found[i], number, 1e-6)
      );
    }
  }
});

Deno.test("on-policy without limits the policy moves by the Retrace policy gradient", () => {
  const it = setup("own");
  const { model, params, batch } = it;
  const found = gradientsOf(it, {
    importanceClip: 1e30,
    delta: 1e30,
    entropyCoefficient: 0,
    gamma: 0.9,
  }, otherAverage(params));
  const { policy, q } = model.apply(params, batch.observations);
  const f = tf.softmax(policy), values = tf.sum(tf.mul(f, q), 1);
  const chosen = tf.oneHot(batch.actions, 3);
  const [v, qTaken, rewards, terminated] = [
    values,
    tf.sum(tf.mul(q, chosen), 1),
    batch.rewards,
    batch.terminated,
  ].map((x) => x.arraySync() as number[]);
  const advantages = [0, 5].flatMap((first) => {
    const rows = [first, first + 4] as const;
    const targets = retrace({
      rewards: rewards.slice(...rows),
      terminated: terminated.slice(...rows),
      truncated: [0, 0, 0, 0],
      values: v.slice(...rows),
      qValues: qTaken.slice(...rows),
      ratios: [1, 1, 1, 1],
      lastValues: [v[first + 4]],
    }, { numEnvs: 1, numSteps: 4, gamma: 0.9 });
    return [...[...targets].map((target, t) => target - v[first + t]), 0];
  });
  const wanted = valueAndGradients((params: Params) => {
    const { policy } = model.apply(params, batch.observations);
    const logs = tf.sum(tf.mul(tf.logSoftmax(policy), chosen), 1);
    return { loss: tf.neg(tf.div(tf.sum(tf.mul(logs, advantages)), 8)) };
  }, params).gradients;
  for (const path of ["pi/head/kernel", "pi/head/bias"]) {
    const numbers = wanted[path].dataSync();
    found[path].dataSync().forEach((number, i) =>
      assertAlmostEquals(number, numbers[i], 1e-4)
    );
  }
});

Deno.test("the trust region moves the policy's gradient only", () => {
  const it = setup();
  const average = otherAverage(it.params);
  const free = gradientsOf(it, { trustRegion: false }, average);
  const bound = gradientsOf(it, { delta: 0.01 }, average);
  assert(distance(free, bound) > 1e-3);
  for (const path of ["q/head/kernel", "q/head/bias"]) {
    assertEquals(bound[path].dataSync(), free[path].dataSync());
  }
  const wide = gradientsOf(it, { delta: 1e30 }, average);
  assert(distance(free, wide) < 1e-9);
});

Deno.test("without norms of its parts the gradient is the same", () => {
  const { model, params, batch } = setup();
  const state = { policy: params, average: otherAverage(params) };
  const [whole, parts] = [false, true].map((partNorms) =>
    acerGradients(model, state, batch, { numEnvs: 2, delta: 0.01, partNorms })
  );
  assert(distance(whole.gradients, parts.gradients) < 1e-12);
  assertEquals("q_grad_norm" in whole.statistics, false);
  assert("q_grad_norm" in parts.statistics);
});

Deno.test("without a trust region the average policy is of no concern", () => {
  const it = setup();
  const options = { trustRegion: false };
  const own = gradientsOf(it, options);
  const other = gradientsOf(it, options, otherAverage(it.params));
  assertEquals(distance(own, other), 0);
});

Deno.test("the bias correction moves the policy's gradient only, and off-policy only", () => {
  const given = { importanceClip: 1, trustRegion: false };
  const differences = (it: Setup) => {
    const on = gradientsOf(it, given);
    const off = gradientsOf(it, { ...given, biasCorrection: false });
    return { all: distance(on, off), on, off };
  };
  const { all, on, off } = differences(setup("another"));
  assert(all > 1e-4);
  for (const path of ["q/head/kernel", "q/head/bias"]) {
    assertEquals(on[path].dataSync(), off[path].dataSync());
  }
  assert(differences(setup("own")).all < 1e-9);
});

Deno.test("every loss counts a segment by its importance weight", () => {
  const it = setup();
  const average = otherAverage(it.params);
  const weighted = (...weights: number[]) =>
    gradientsOf(
      { ...it, batch: { ...it.batch, weights: tf.tensor1d(weights) } },
      { delta: 0.01, importanceClip: 1 },
      average,
    );
  const plain = gradientsOf(it, { delta: 0.01, importanceClip: 1 }, average);
  assert(distance(weighted(1, 1), plain) < 1e-9);
  const [first, second] = [weighted(1, 0), weighted(0, 1)];
  assert(distance(first, second) > 1e-3);
  const sum = Object.fromEntries(
    Object.keys(plain).map((path) => [
      path,
      tf.add(tf.mul(first[path], 0.3), tf.mul(second[path], 0.8)),
    ]),
  );
  assert(distance(weighted(0.3, 0.8), sum) < 1e-8);
});

Deno.test("errors of segments are means over steps, for segments with weights", () => {
  const it = setup();
  assertEquals(step(it, {}).results, undefined);
  const batch = { ...it.batch, weights: tf.tensor1d([1, 0.5]) };
  const { results } = step({ ...it, batch }, { gamma: 0 });
  const q = it.model.apply(it.params, batch.observations).q.arraySync();
  const [actions, rewards] = [batch.actions, batch.rewards].map((x) =>
    x.arraySync()
  );
  const errors = rewards.map((r, i) => Math.abs(r - q[i][actions[i]]));
  results!.tdErrors.dataSync().forEach((found, env) => {
    const own = errors.slice(5 * env, 5 * env + 4); // the fifth has no action
    assertAlmostEquals(found, own.reduce((a, b) => a + b) / 4, 1e-5);
  });
});

Deno.test("statistics are those of the losses, and of the trust region where there is one", () => {
  const base = [
    ...[
      "loss",
      "q_loss",
      "entropy",
      "policy_loss",
      "truncated_loss",
      "bias_correction_loss",
    ],
    ...["explained_variance", "grad_norm"],
  ];
  const region = [
    ...["q_grad_norm", "policy_grad_norm", "projected_gradient_norm"],
    ...[
      "kl_gradient_norm",
      "gain_gradient_norm",
      "kl_gain_product",
      "trust_region_adjustment",
    ],
  ];
  const names = (options: Partial<AcerUpdateOptions>) =>
    Object.keys(step(setup(), options).stats).sort();
  assertEquals(names({}), [...base, ...region].sort());
  assertEquals(names({ trustRegion: false }), base.sort());
});
