// deno-lint-ignore-file no-console -- a program that prints
/**
 * Milliseconds of a compiled A2C update of the Nature CNN, 80 frames of bytes
 * 84x84x4, and of its forward pass of 16: the same work as
 * torch_nature_a2c.py.
 */
import { a2cUpdate, initOptimizerState } from "@bellman/a2c";
import {
  compile,
  compileStep,
  RandomStream,
  rmspropTf1,
  selectBackend,
} from "@bellman/compute";
import { actorCritic } from "@bellman/policies";
import type * as tf from "@tensorflow/tfjs";

const task = { threads: 1, repeats: 30, seed: 0, ...JSON.parse(Deno.args[0]) };
const ROWS = 80, ENVS = 16, ACTIONS = 6;
const FRAME = [84, 84, 4];

await selectBackend("cpu");
const model = actorCritic({
  observationSpace: {
    type: "box",
    shape: FRAME,
    low: 0,
    high: 255,
    dtype: "uint8",
  },
  actionSpace: { type: "discrete", n: ACTIONS },
  network: "cnn",
});
const random = new RandomStream(task.seed);
const params = model.init(random);
const optimizer = rmspropTf1();
const update = a2cUpdate(model, { optimizer });
const column = { shape: [ROWS], dtype: "float32" } as const;
const inputs = {
  batch: {
    observations: { shape: [ROWS, ...FRAME], dtype: "uint8" },
    actions: { shape: [ROWS], dtype: "int32" },
    advantages: column,
    returns: column,
  },
  learningRate: { shape: [], dtype: "float32" },
  entropyCoefficient: { shape: [], dtype: "float32" },
} as const;
const state = { params, slots: initOptimizerState(params, { optimizer }) };
const { threads } = task;
const started = performance.now();
const learner = compileStep((held: typeof state, { batch, ...rates }) => {
  const { params, optimizerState, stats } = update(
    held.params,
    held.slots,
    { ...batch, observations: model.encode(batch.observations) },
    rates as { learningRate: tf.Scalar; entropyCoefficient: tf.Scalar },
  );
  return { state: { params, slots: optimizerState }, stats };
}, { state, inputs, threads, engine: "onnx" });
const compileMs = performance.now() - started;
const forward = compile(({ params, x }) => {
  const { policy, value } = model.apply(params, model.encode(x));
  return { policy, value };
}, {
  inputs: { params, x: { shape: [ENVS, ...FRAME], dtype: "uint8" } },
  threads,
  engine: "onnx",
});

const bytes = (count: number) =>
  Uint8Array.from(
    { length: count * 84 * 84 * 4 },
    () => random.integer(256),
  );
const normal = () => random.fillNormal(new Float32Array(ROWS));
const given = {
  batch: {
    observations: bytes(ROWS),
    actions: Int32Array.from({ length: ROWS }, () => random.integer(ACTIONS)),
    advantages: normal(),
    returns: normal(),
  },
  learningRate: 7e-4,
  entropyCoefficient: 0.01,
};
const frames = bytes(ENVS);

function medianMs(call: () => void): number {
  const times: number[] = [];
  for (let i = -3; i < task.repeats; i++) {
    const started = performance.now();
    call();
    if (i >= 0) times.push(performance.now() - started);
  }
  return times.sort((a, b) => a - b)[times.length >> 1];
}

console.log(JSON.stringify({
  update_ms: medianMs(() => learner.run(given)),
  forward_ms: medianMs(() =>
    forward.run({ params: learner.state.params, x: frames })
  ),
  compile_ms: compileMs,
}));
