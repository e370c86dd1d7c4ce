// deno-lint-ignore-file no-console -- a program that prints
/**
 * Milliseconds of a TD3 update, compiled: the mean of one of the critics and a whole
 * one, which take turns.
 */
import {
  compileStep,
  type Engine,
  RandomStream,
  selectBackend,
  type TensorsOf,
} from "@bellman/compute";
import { deterministicPolicy, qFunction } from "@bellman/policies";
import { initTd3State, td3Update } from "@bellman/td3";
import * as tf from "@tensorflow/tfjs";

const task = {
  threads: 1,
  repeats: 100,
  seed: 0,
  engine: "onnx" as Engine,
  ...JSON.parse(Deno.args[0]),
};
const OBSERVATION = 17, ACTION = 6, BATCH = 256;

await selectBackend(task.engine === "eager" ? "wasm" : "cpu");
const box = { type: "box", low: -1, high: 1, dtype: "float32" } as const;
const spaces = {
  observationSpace: { ...box, shape: [OBSERVATION] },
  actionSpace: { ...box, shape: [ACTION] },
  networkOptions: { hiddenSizes: [256, 256] },
};
const model = { policy: deterministicPolicy(spaces), qf: qFunction(spaces) };
const random = new RandomStream(task.seed);
const state = initTd3State(model, random);
const updates = td3Update(model);
const rows = { shape: [BATCH], dtype: "float32" } as const;
const matrix = (columns: number) =>
  ({ shape: [BATCH, columns], dtype: "float32" }) as const;
const inputs = {
  observations: matrix(OBSERVATION),
  actions: matrix(ACTION),
  rewards: rows,
  terminated: rows,
  nextObservations: matrix(OBSERVATION),
  nextNoise: matrix(ACTION),
} as const;

const step =
  (update: typeof updates.learn) =>
  (held: typeof state, { nextNoise, ...batch }: TensorsOf<typeof inputs>) => {
    const { state, stats } = update(held, batch, {
      learningRate: tf.scalar(3e-4),
      tau: tf.scalar(0.005),
      nextNoise,
    });
    return { state: state as typeof held, loss: stats.q_loss! };
  };

const { threads, engine } = task;
const learner = compileStep(step(updates.learn), {
  state,
  inputs,
  threads,
  engine,
});
const critics = learner.also(step(updates.critics));
const normal = (size: number) => random.fillNormal(new Float32Array(size));
const batch = {
  observations: normal(BATCH * OBSERVATION),
  actions: normal(BATCH * ACTION).map(Math.tanh),
  rewards: normal(BATCH),
  terminated: new Float32Array(BATCH),
  nextObservations: normal(BATCH * OBSERVATION),
  nextNoise: normal(BATCH * ACTION),
};
const times: number[] = [];
for (let i = -10; i < task.repeats; i++) {
  const started = performance.now();
  for (const program of [critics, learner]) {
    random.fillNormal(batch.nextNoise);
    program.run(batch);
  }
  if (i >= 0) times.push((performance.now() - started) / 2);
}
times.sort((a, b) => a - b);
console.log(JSON.stringify({ update_ms: times[times.length >> 1] }));
