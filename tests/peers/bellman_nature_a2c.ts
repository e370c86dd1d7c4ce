// deno-lint-ignore-file no-console -- a program that prints
/**
 * Milliseconds of a compiled A2C update of the Nature CNN, 80 frames of bytes
 * 84x84x4 or as many as `rows` says, and of its forward pass of 16: the same work as
 * torch_nature_a2c.py.
 */
import {
  compile,
  type Engine,
  RandomStream,
  selectBackend,
} from "@bellman/compute";
import { actorCritic } from "@bellman/policies";
import type * as tf from "@tensorflow/tfjs";
import { makeLearner } from "./a2c_learner.ts";
import { clockOf, medianMs } from "./median_ms.ts";

const task = {
  threads: 1,
  repeats: 30,
  rows: 80,
  seed: 0,
  engine: "onnx" as Engine,
  clock: "wall" as const,
  ...JSON.parse(Deno.args[0]),
};
const ROWS: number = task.rows, ENVS = 16, ACTIONS = 6;
const FRAME = [84, 84, 4];

await selectBackend(task.engine === "eager" ? "wasm" : "cpu");
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
const { threads, engine, repeats: runs } = task;
const now = clockOf(task.clock);
const params = model.init(random);
const started = now();
const learner = makeLearner(model, { params, rows: ROWS, threads, engine });
const compileMs = now() - started;
const forward = compile((given) => {
  const params = given.params as Record<string, tf.Tensor>;
  const { policy, value } = model.apply(params, model.encode(given.x));
  return { policy, value };
}, {
  inputs: {
    params,
    x: { shape: [ENVS, ...FRAME], dtype: "uint8" },
  },
  threads,
  engine,
});

const bytes = (count: number) =>
  Uint8Array.from({ length: count * 84 * 84 * 4 }, () => random.integer(256));
const normal = () => random.fillNormal(new Float32Array(ROWS));
const given = {
  observations: bytes(ROWS),
  actions: Int32Array.from({ length: ROWS }, () => random.integer(ACTIONS)),
  advantages: normal(),
  returns: normal(),
  learningRate: 7e-4,
  entropyCoefficient: 0.01,
};
const x = bytes(ENVS);

console.log(JSON.stringify({
  update_ms: medianMs(() => learner.run(given), { runs, now }),
  forward_ms: medianMs(() => forward.run({ params: learner.state.policy, x }), {
    runs,
  }),
  compile_ms: compileMs,
}));
