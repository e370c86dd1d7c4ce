import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "./backends/select_backend.ts";
import { clipByGlobalNorm } from "./gradients.ts";
import { createOptimizer, type OptimizerName } from "./optimizers.ts";
import { disposeParams, mapParams, type Params } from "./params.ts";

await selectBackend("wasm");

const params: Params = {};
for (const net of ["pi", "vf"]) {
  [4, 64, 64].forEach((inputs, layer) => {
    params[`${net}/dense${layer}/kernel`] = tf.ones([inputs, 64]);
    params[`${net}/dense${layer}/bias`] = tf.zeros([64]);
  });
}
const gradients = mapParams(params, (it) => tf.fill(it.shape, 0.01));
const learningRate = tf.scalar(1e-3);

for (
  const name of ["rmsprop_tf1", "rmsprop", "adam", "sgd"] as OptimizerName[]
) {
  const optimizer = createOptimizer(name);
  const state = optimizer.init(params);
  Deno.bench(`${name} with clipping, 12 parameters`, () => {
    const clipped = clipByGlobalNorm(gradients, 0.5);
    const step = optimizer.apply(params, clipped.gradients, {
      state,
      learningRate,
    });
    disposeParams(clipped.gradients, step.params, step.state);
    clipped.norm.dispose();
  });
}
