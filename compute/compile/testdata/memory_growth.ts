/** Resident memory over many compiled calls. */
import * as tf from "@tensorflow/tfjs";
import process from "node:process";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import "../../backends/select_backend.ts";
import { rmspropTf1 } from "../../optimizers.ts";
import { compileStep } from "../compile.ts";

const MEGABYTE = 2 ** 20;

/** The collector itself. */
function collector(): () => void {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc");
}

/** A small learner: gradients, an optimizer, and inputs of both kinds. */
function makeLearner() {
  const optimizer = rmspropTf1();
  const params = { w: tf.zeros([8, 4]), b: tf.zeros([4]) };
  const state = { params, slots: optimizer.init(params) };
  return compileStep((held: typeof state, { x, y, learningRate }) => {
    const loss = (w: tf.Tensor, b: tf.Tensor) =>
      tf.mean(tf.square(tf.sub(tf.tanh(tf.add(tf.matMul(x, w), b)), y)));
    const [w, b] = tf.grads(loss)([held.params.w, held.params.b]);
    const step = optimizer.apply(held.params, { w, b }, {
      state: held.slots,
      learningRate,
    });
    return {
      state: { params: step.params as typeof params, slots: step.state },
      loss: loss(held.params.w, held.params.b),
    };
  }, {
    state,
    inputs: {
      x: { shape: [4, 8], dtype: "float32" },
      y: { shape: [4, 4], dtype: "float32" },
      learningRate: { shape: [], dtype: "float32" },
    },
    engine: "onnx",
  });
}

/**
 * Returns by how many tensors and megabytes memory grows over compiled calls, after a
 * tenth of them; what is measured has no garbage in it.
 */
export async function growth(
  calls: number,
  { areNew }: { areNew: boolean },
): Promise<{ tensors: number; megabytes: number }> {
  await tf.setBackend("cpu");
  const collect = collector();
  const learner = makeLearner();
  const x = new Float32Array(32).fill(0.5), y = new Float32Array(16).fill(1);
  const run = (calls: number) => {
    for (let i = 0; i < calls; i++) {
      const given = areNew ? { x: x.slice(), y: y.slice() } : { x, y };
      learner.run({ ...given, learningRate: 1e-3 });
    }
    collect();
    return process.memoryUsage.rss() / MEGABYTE;
  };
  const tensors = tf.memory().numTensors;
  // A leak grows in each half; what a busy machine is late to give back does not.
  const [before, between, after] = [calls / 10, calls / 2, calls / 2].map(run);
  const megabytes = 2 * Math.min(between - before, after - between);
  learner.close();
  return { tensors: tf.memory().numTensors - tensors, megabytes };
}
