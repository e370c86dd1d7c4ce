// deno-lint-ignore-file no-console -- a program that prints
/**
 * Microseconds of A2C's update of 80 rows and of a forward pass of 16, both of
 * 4-64-64 networks: compiled, and eagerly on WebAssembly.
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
const params = model.init(new RandomStream(1));
const optimizer = rmspropTf1();
const update = a2cUpdate(model, { optimizer });
const column = { shape: [ROWS], dtype: "float32" } as const;
const inputs = {
  batch: {
    observations: { shape: [ROWS, 4], dtype: "float32" },
    actions: { shape: [ROWS], dtype: "int32" },
    advantages: column,
    returns: column,
  },
  learningRate: { shape: [], dtype: "float32" },
  entropyCoefficient: { shape: [], dtype: "float32" },
} as const;
const state = { params, slots: initOptimizerState(params, { optimizer }) };

function learner(engine: "onnx" | "eager") {
  return compileStep((held: typeof state, { batch, ...rates }) => {
    const { params, optimizerState, stats } = update(
      held.params,
      held.slots,
      batch,
      rates as { learningRate: tf.Scalar; entropyCoefficient: tf.Scalar },
    );
    return { state: { params, slots: optimizerState }, stats };
  }, { state, inputs, engine, threads: 1 });
}

const wave = (size: number, step: number) =>
  Float32Array.from({ length: size }, (_, i) => Math.sin(i * step));
const given = {
  batch: {
    observations: wave(ROWS * 4, 1),
    actions: Int32Array.from({ length: ROWS }, (_, i) => i % 2),
    advantages: wave(ROWS, 2),
    returns: wave(ROWS, 3),
  },
  learningRate: 7e-4,
  entropyCoefficient: 0.01,
};

/** Median microseconds of a call, in runs of several. */
function microseconds(call: () => void, calls: number): number {
  const times: number[] = [];
  for (let run = -2; run < 15; run++) {
    const started = performance.now();
    for (let i = 0; i < calls; i++) call();
    if (run >= 0) times.push((performance.now() - started) / calls * 1000);
  }
  return times.sort((a, b) => a - b)[times.length >> 1];
}

const started = performance.now();
const compiled = learner("onnx");
const compileMs = performance.now() - started;
const again = performance.now();
learner("onnx");
const warmCompileMs = performance.now() - again;
const eager = learner("eager");
const forward = compile(({ params, x }) => ({
  logits: model.apply(params, x).policy,
}), {
  inputs: { params, x: { shape: [ENVS, 4], dtype: "float32" } },
  engine: "onnx",
});
const x = wave(ENVS * 4, 1);
console.log(JSON.stringify({
  compiled_us: microseconds(() => compiled.run(given), 300),
  eager_us: microseconds(() => eager.run(given), 30),
  forward_us: microseconds(
    () => forward.run({ params: compiled.state.params, x }),
    1000,
  ),
  compile_ms: compileMs,
  warm_compile_ms: warmCompileMs,
}));
