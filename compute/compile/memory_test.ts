/** Resident memory over 100,000 calls; what is measured has no garbage in it. */
import { assert, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { rmspropTf1 } from "../optimizers.ts";
import { compileStep } from "./compile.ts";

const CALLS = 100_000;
const MEGABYTE = 2 ** 20;

await tf.setBackend("cpu");

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

for (const arrays of ["the same arrays", "new arrays"]) {
  Deno.test(`100,000 compiled calls with ${arrays} leave memory flat`, () => {
    const collect = collector();
    const learner = makeLearner();
    const x = new Float32Array(32).fill(0.5), y = new Float32Array(16).fill(1);
    const run = (calls: number) => {
      for (let i = 0; i < calls; i++) {
        const given = arrays === "new arrays"
          ? { x: x.slice(), y: y.slice() }
          : { x, y };
        learner.run({ ...given, learningRate: 1e-3 });
      }
      collect();
      return Deno.memoryUsage().rss / MEGABYTE;
    };
    const tensors = tf.memory().numTensors;
    const before = run(CALLS / 10);
    const grown = run(CALLS) - before;
    assertEquals(tf.memory().numTensors, tensors);
    assert(grown < 16, `${grown.toFixed(1)} MB more than before`);
  });
}
