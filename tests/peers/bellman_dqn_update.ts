// deno-lint-ignore-file no-console -- a program that prints
/** Milliseconds of a DQN update, compiled, of CartPole's sizes; `rainbow` has all options. */
import {
  adam,
  compileStep,
  RandomStream,
  selectBackend,
} from "@bellman/compute";
import { dqnUpdate, initDqnState, returnForm } from "@bellman/dqn";
import { qPolicy } from "@bellman/policies";
import * as tf from "@tensorflow/tfjs";

const task = {
  threads: 1,
  repeats: 500,
  seed: 0,
  engine: "onnx",
  hidden: [256, 256],
  batch: 64,
  rainbow: false,
  ...JSON.parse(Deno.args[0]),
};
const OBSERVATION = 4, ACTIONS = 2;
const { batch: rows, rainbow, threads, engine } = task;

await selectBackend(engine === "eager" ? "wasm" : "cpu");
const returns = rainbow
  ? returnForm({ values: "categorical", valueRange: [0, 100] })
  : returnForm();
const policy = qPolicy({
  ...returns,
  observationSpace: {
    type: "box",
    shape: [OBSERVATION],
    low: -1,
    high: 1,
    dtype: "float32",
  },
  actionSpace: { type: "discrete", n: ACTIONS },
  networkOptions: { hiddenSizes: task.hidden },
  ...(rainbow && { dueling: true, sigma0: 0.5 }),
});
const random = new RandomStream(task.seed), optimizer = adam();
const state = initDqnState(policy, random, optimizer);
const update = dqnUpdate(policy, { returns, optimizer });
const normal = (size: number) => random.fillNormal(new Float32Array(size));
const batch: Record<string, Float32Array | Int32Array> = {
  observations: normal(rows * OBSERVATION),
  nextObservations: normal(rows * OBSERVATION),
  actions: Int32Array.from({ length: rows }, () => random.integer(ACTIONS)),
  rewards: normal(rows),
  terminated: new Float32Array(rows),
  ...(rainbow && {
    discounts: new Float32Array(rows).fill(0.97),
    weights: new Float32Array(rows).fill(0.5),
    noise: normal(3 * policy.noise.size),
  }),
};
const shapeOf = (name: string) =>
  name === "noise"
    ? [3, policy.noise.size]
    : /bservations/.test(name)
    ? [rows, OBSERVATION]
    : [rows];
const inputs = Object.fromEntries(
  Object.keys(batch).map((name) => [name, {
    shape: shapeOf(name),
    dtype: name === "actions" ? "int32" : "float32",
  }]),
);
const learner = compileStep((held: typeof state, given) => {
  const { noise, ...batch } = given as unknown as Record<string, tf.Tensor>;
  const made = update(held, batch as never, {
    learningRate: tf.scalar(5e-4),
    noise: noise as tf.Tensor2D,
  });
  return { state: made.state, loss: made.stats.loss, ...made.results };
}, { state, inputs: inputs as never, threads, engine });
const times: number[] = [];
for (let i = -50; i < task.repeats; i++) {
  const started = performance.now();
  if (rainbow) random.fillNormal(batch.noise as Float32Array);
  learner.run(batch as never);
  if (i >= 0) times.push(performance.now() - started);
}
times.sort((a, b) => a - b);
console.log(JSON.stringify({ update_ms: times[times.length >> 1] }));
