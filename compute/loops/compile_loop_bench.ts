/**
 * Adam on parameters of several sizes, as one loop and operation by operation:
 * what a loop saves. Run with `deno bench`.
 */
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../backends/select_backend.ts";
import { compile, compileStep } from "../compile/compile.ts";
import { adam } from "../optimizers.ts";

await selectBackend("cpu");
const optimizer = adam();

for (const size of [1000, 10_000, 100_000, 1_000_000]) {
  const vector = { shape: [size], dtype: "float32" } as const;
  const gradient = Float32Array.from({ length: size }, (_, i) => Math.sin(i));
  const params = { w: tf.ones([size]) };
  const slots = optimizer.init(params);
  const learningRate = tf.scalar(1e-3);
  const descend = (
    held: { params: typeof params; slots: typeof slots },
    g: tf.Tensor,
  ) => {
    const options = { state: held.slots, learningRate };
    const step = optimizer.apply(held.params, { w: tf.add(g, 0) }, options);
    return { params: step.params as typeof params, slots: step.state };
  };
  const group = `${size} parameters`;
  const step = compileStep(
    (held, { g }) => ({ state: descend(held, tf.exp(g)) }),
    { state: { params, slots }, inputs: { g: vector }, engine: "onnx" },
  );
  // A function without a state has no memory that loops can work on.
  const plain = compile(
    ({ g, params, slots }) => descend({ params, slots }, tf.exp(g)),
    { inputs: { g: vector, params, slots }, engine: "onnx" },
  );
  const held = {
    params: { w: new Float32Array(size).fill(1) },
    slots: {
      "m/w": new Float32Array(size),
      "v/w": new Float32Array(size),
      step: 1,
    },
  };
  Deno.bench({
    name: "operation by operation",
    group,
    baseline: true,
    fn: () => void plain.run({ g: gradient, ...held } as never),
  });
  Deno.bench({
    name: "one loop",
    group,
    fn: () => void step.run({ g: gradient }),
  });
}
