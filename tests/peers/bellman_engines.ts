// deno-lint-ignore-file no-console -- a program that prints
/**
 * Microseconds of A2C's update of 80 rows and of a forward pass of 16, both of
 * 4-64-64 networks, by one engine; eagerly, on WebAssembly.
 */
import { compile, RandomStream, selectBackend } from "@bellman/compute";
import { actorCritic } from "@bellman/policies";
import * as tf from "@tensorflow/tfjs";
import { makeLearner } from "./a2c_learner.ts";
import { clockOf, medianMs } from "./median_ms.ts";

const { engine = "onnx", clock = "wall" } = JSON.parse(Deno.args[0] ?? "{}");
const ROWS = 80, ENVS = 16;

await selectBackend("wasm");
const model = actorCritic({
  observationSpace: {
    type: "box",
    shape: [4],
    low: -1,
    high: 1,
    dtype: "float32",
  },
  actionSpace: { type: "discrete", n: 2 },
  network: "mlp",
  networkOptions: { hiddenSizes: [64, 64], activation: "tanh" },
  valueNetwork: "separate",
});

const wave = (size: number, step: number) =>
  Float32Array.from({ length: size }, (_, i) => Math.sin(i * step));
const given = {
  observations: wave(ROWS * 4, 1),
  actions: Int32Array.from({ length: ROWS }, (_, i) => i % 2),
  advantages: wave(ROWS, 2),
  returns: wave(ROWS, 3),
  learningRate: 7e-4,
  entropyCoefficient: 0.01,
};

const now = clockOf(clock);
const microseconds = (call: () => void, calls: number) =>
  1000 * medianMs(call, { runs: 15, calls, now });

const params = model.init(new RandomStream(1));
const started = now();
const learner = makeLearner(model, { params, rows: ROWS, engine });
const again = now();
makeLearner(model, { params, rows: ROWS, engine });
const built = now();
const forward = compile((held) => ({
  logits: model.apply(held.params as Record<string, tf.Tensor>, held.x).policy,
}), {
  inputs: {
    params,
    x: { shape: [ENVS, 4], dtype: "float32" },
  },
  engine,
});
const nothing = compile(({ x }) => ({ y: tf.neg(x) }), {
  inputs: { x: { shape: [4], dtype: "float32" } },
  engine,
});
const x = wave(ENVS * 4, 1), small = wave(4, 1);
const calls = engine === "eager" ? 30 : 300;
console.log(JSON.stringify({
  update_us: microseconds(() => learner.run(given), calls),
  forward_us: microseconds(
    () => forward.run({ params: learner.state.policy, x }),
    3 * calls,
  ),
  call_us: microseconds(() => nothing.run({ x: small }), 3 * calls),
  compile_ms: again - started,
  warm_compile_ms: built - again,
}));
