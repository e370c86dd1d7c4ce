/**
 * Whether 10,000 updates of a small network leave the number of live tensors
 * and the resident memory as they were: throws where they do not.
 */
import * as tf from "@tensorflow/tfjs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { selectBackend } from "./backends/select_backend.ts";
import { clipByGlobalNorm, valueAndGradients } from "./gradients.ts";
import { createOptimizer } from "./optimizers.ts";
import { disposeParams, type Params } from "./params.ts";
import { RandomStream } from "./random_stream.ts";

const UPDATES = 10_000;
/** What the runtime itself may add, in bytes. */
const ALLOWED_GROWTH = 8 * 2 ** 20;

await selectBackend("wasm");

// Between collections the heap grows by hundreds of megabytes of garbage, which
// would hide what is really kept.
setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

function residentMemory(): number {
  collectGarbage();
  return Deno.memoryUsage().rss;
}

const random = new RandomStream(1);

function noise(...shape: number[]): tf.Tensor {
  const size = shape.reduce((a, b) => a * b, 1);
  return tf.tensor(random.fillNormal(new Float32Array(size)), shape);
}

const optimizer = createOptimizer("rmsprop_tf1");
const learningRate = tf.scalar(1e-4);
const x = noise(80, 4) as tf.Tensor2D, y = noise(80, 1);
let params: Params = {
  "dense0/kernel": noise(4, 64),
  "dense0/bias": tf.zeros([64]),
  "head/kernel": noise(64, 1),
  "head/bias": tf.zeros([1]),
};
let state = optimizer.init(params);

function loss(p: Params): { loss: tf.Scalar; aux: Params } {
  const hidden = tf.tanh(
    tf.add(tf.matMul(x, p["dense0/kernel"] as tf.Tensor2D), p["dense0/bias"]),
  ) as tf.Tensor2D;
  const output = tf.add(
    tf.matMul(hidden, p["head/kernel"] as tf.Tensor2D),
    p["head/bias"],
  );
  return {
    loss: tf.mean(tf.squaredDifference(output, y)) as tf.Scalar,
    aux: { output },
  };
}

function update(): void {
  const { loss: value, aux, gradients } = valueAndGradients(loss, params);
  const clipped = clipByGlobalNorm(gradients, 0.5);
  const options = { state, learningRate };
  const next = optimizer.apply(params, clipped.gradients, options);
  disposeParams(params, state, gradients, clipped.gradients, aux);
  disposeParams({ value, norm: clipped.norm });
  ({ params, state } = next);
}

Deno.bench("10,000 updates: live tensors and resident memory stay flat", {
  n: 1,
  warmup: 0,
}, () => {
  for (let i = 0; i < UPDATES; i++) update();
  const tensors = tf.memory().numTensors;
  const blocks = tf.engine().backend.numDataIds();
  const resident = residentMemory();
  for (let i = 0; i < UPDATES; i++) update();
  const grown = {
    tensors: tf.memory().numTensors - tensors,
    blocks: tf.engine().backend.numDataIds() - blocks,
    bytes: residentMemory() - resident,
  };
  if (grown.tensors || grown.blocks || grown.bytes > ALLOWED_GROWTH) {
    throw new Error(`Memory grew: ${JSON.stringify(grown)}`);
  }
});
