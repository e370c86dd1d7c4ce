// deno-lint-ignore-file no-console -- a program that prints
/**
 * Milliseconds of a SAC update, compiled: the same work as
 * torch_sac_update.py, written in TensorFlow.js operations.
 */
import {
  adam,
  compileStep,
  type Engine,
  mapParams,
  type OptimizerState,
  type Params,
  polyak,
  RandomStream,
  selectBackend,
  type TensorsOf,
  valueAndGradients,
} from "@bellman/compute";
import { addPrefix, mlp, pickPrefix } from "@bellman/policies";
import * as tf from "@tensorflow/tfjs";
import { clockOf } from "./median_ms.ts";

const task = {
  threads: 1,
  repeats: 200,
  seed: 0,
  layers: 2,
  engine: "onnx" as Engine,
  clock: "wall" as const,
  ...JSON.parse(Deno.args[0]),
};
const OBSERVATION = 17, ACTION = 6, BATCH = 256;
const GAMMA = 0.99, POLYAK = 0.005, LEARNING_RATE = 3e-4;
const TARGET_ENTROPY = -ACTION;
const SHIFT = ACTION * (0.5 * Math.log(2 * Math.PI) + 2 * Math.log(2));

await selectBackend(task.engine === "eager" ? "wasm" : "cpu");
const hidden = {
  hiddenSizes: new Array(task.layers).fill(256),
  activation: "relu",
} as const;
const policy = mlp({ inputShape: [OBSERVATION], ...hidden });
const critic = mlp({ inputShape: [OBSERVATION + ACTION], ...hidden });
const random = new RandomStream(task.seed);

function head(outputs: number): Params {
  const kernel = random.fillUniform(new Float32Array(256 * outputs))
    .map((it) => (2 * it - 1) / 16);
  return {
    "head/kernel": tf.tensor2d(kernel, [256, outputs]),
    "head/bias": tf.zeros([outputs]),
  };
}

const dense = (params: Params, x: tf.Tensor): tf.Tensor =>
  tf.add(tf.matMul(x, params["head/kernel"]), params["head/bias"]);

function valueOf(params: Params, observations: tf.Tensor, actions: tf.Tensor) {
  const x = tf.concat([observations, actions], 1);
  return tf.reshape(dense(params, critic.apply(params, { x }).output), [-1]);
}

const values = (params: Params, observations: tf.Tensor, actions: tf.Tensor) =>
  ["first", "second"].map((name) =>
    valueOf(pickPrefix(params, name), observations, actions)
  );

/** Actions of the tanh-Gaussian policy and their log-probabilities. */
function sample(params: Params, x: tf.Tensor, noise: tf.Tensor) {
  const [mean, raw] = tf.split(
    dense(params, policy.apply(params, { x }).output),
    2,
    1,
  );
  const logStd = tf.clipByValue(raw, -20, 2);
  const action = tf.add(mean, tf.mul(tf.exp(logStd), noise));
  // log(1 - tanh(x)^2) = 2 (log 2 - x - softplus(-2 x))
  const squash = tf.mul(2, tf.add(action, tf.softplus(tf.mul(action, -2))));
  const logProb = tf.sub(
    tf.sum(
      tf.add(tf.sub(tf.mul(tf.square(noise), -0.5), logStd), squash),
      1,
    ),
    SHIFT,
  );
  return { action: tf.tanh(action), logProb };
}

const actor = { ...policy.init(random), ...head(2 * ACTION) };
const critics: Params = {
  ...addPrefix({ ...critic.init(random), ...head(1) }, "first"),
  ...addPrefix({ ...critic.init(random), ...head(1) }, "second"),
};
const temperature: Params = { logAlpha: tf.scalar(0) };
const optimizer = adam();
const state = {
  actor,
  critics,
  targets: mapParams(critics, (it) => it.clone()),
  temperature,
  actorSlots: optimizer.init(actor),
  criticSlots: optimizer.init(critics),
  temperatureSlots: optimizer.init(temperature),
};
const rows = { shape: [BATCH], dtype: "float32" } as const;
const matrix = (columns: number) =>
  ({ shape: [BATCH, columns], dtype: "float32" }) as const;
const inputs = {
  observations: matrix(OBSERVATION),
  actions: matrix(ACTION),
  rewards: rows,
  goingOn: rows,
  following: matrix(OBSERVATION),
  noise: matrix(ACTION),
  nextNoise: matrix(ACTION),
} as const;

function update(held: typeof state, batch: TensorsOf<typeof inputs>) {
  const { observations, actions, rewards, goingOn, following } = batch;
  const alpha = tf.exp(held.temperature.logAlpha);
  const next = sample(held.actor, following, batch.nextNoise);
  const [a, b] = values(held.targets, following, next.action);
  const wanted = tf.add(
    rewards,
    tf.mul(
      tf.mul(goingOn, GAMMA),
      tf.sub(tf.minimum(a, b), tf.mul(alpha, next.logProb)),
    ),
  );
  const descend = (
    params: Params,
    gradients: Params,
    slots: OptimizerState,
  ) =>
    optimizer.apply(params, gradients, {
      state: slots,
      learningRate: tf.scalar(LEARNING_RATE),
    });
  const criticStep = valueAndGradients((params) => {
    const [first, second] = values(params, observations, actions);
    const loss = tf.add(
      tf.mean(tf.squaredDifference(first, wanted)),
      tf.mean(tf.squaredDifference(second, wanted)),
    );
    return { loss: loss as tf.Scalar };
  }, held.critics);
  const critics = descend(held.critics, criticStep.gradients, held.criticSlots);
  const actorStep = valueAndGradients((params) => {
    const { action, logProb } = sample(params, observations, batch.noise);
    const [first, second] = values(critics.params, observations, action);
    const loss = tf.mean(
      tf.sub(tf.mul(alpha, logProb), tf.minimum(first, second)),
    );
    return { loss: loss as tf.Scalar, aux: { logProb: tf.mean(logProb) } };
  }, held.actor);
  const actor = descend(held.actor, actorStep.gradients, held.actorSlots);
  const { logProb } = actorStep.aux;
  const temperatureStep = valueAndGradients(({ logAlpha }) => ({
    loss: tf.neg(
      tf.mul(logAlpha, tf.add(logProb, TARGET_ENTROPY)),
    ) as tf.Scalar,
  }), held.temperature);
  const temperature = descend(
    held.temperature,
    temperatureStep.gradients,
    held.temperatureSlots,
  );
  const targets = polyak(held.targets, critics.params, { tau: POLYAK });
  return {
    state: {
      actor: actor.params as typeof held.actor,
      critics: critics.params,
      targets,
      temperature: temperature.params,
      actorSlots: actor.state,
      criticSlots: critics.state,
      temperatureSlots: temperature.state,
    },
    criticLoss: criticStep.loss,
  };
}

const { threads, engine } = task;
const now = clockOf(task.clock);
const started = now();
const learner = compileStep(update, { state, inputs, threads, engine });
const compileMs = now() - started;
const normal = (size: number) => random.fillNormal(new Float32Array(size));
const batch = {
  observations: normal(BATCH * OBSERVATION),
  actions: normal(BATCH * ACTION).map(Math.tanh),
  rewards: normal(BATCH),
  goingOn: new Float32Array(BATCH).fill(1),
  following: normal(BATCH * OBSERVATION),
  noise: normal(BATCH * ACTION),
  nextNoise: normal(BATCH * ACTION),
};
const times: number[] = [];
for (let i = -20; i < task.repeats; i++) {
  const started = now();
  random.fillNormal(batch.noise);
  random.fillNormal(batch.nextNoise);
  learner.run(batch);
  if (i >= 0) times.push(now() - started);
}
times.sort((a, b) => a - b);
console.log(JSON.stringify({
  update_ms: times[times.length >> 1],
  compile_ms: compileMs,
}));
if (Deno.env.get("BELLMAN_PRINT_GRAPH")) console.error(String(learner.graph));
