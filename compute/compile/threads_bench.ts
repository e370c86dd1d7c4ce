/**
 * Learners of several sizes on one thread and on two: from where on more
 * threads pay. Run with `deno bench`.
 */
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../backends/select_backend.ts";
import { multiplications } from "../graph/graph.ts";
import { compile } from "./compile.ts";

/** Rows of a batch and units of a hidden layer. */
const SIZES = [[80, 64], [128, 128], [128, 256], [256, 512]];

await selectBackend("cpu");

for (const [rows, units] of SIZES) {
  const matrix = (...shape: number[]) => ({ shape, dtype: "float32" }) as const;
  const inputs = {
    x: matrix(rows, 16),
    w0: matrix(16, units),
    w1: matrix(units, units),
    w2: matrix(units, 1),
  };
  const learn = ({ x, w0, w1, w2 }: Record<keyof typeof inputs, tf.Tensor>) => {
    const loss = (...[a, b, c]: tf.Tensor[]) => {
      const hidden = tf.tanh(tf.matMul(tf.tanh(tf.matMul(x, a)), b));
      return tf.mean(tf.square(tf.matMul(hidden, c)));
    };
    const [a, b, c] = tf.grads(loss)([w0, w1, w2]);
    return { w0: tf.sub(w0, a), w1: tf.sub(w1, b), w2: tf.sub(w2, c) };
  };
  const arrays = Object.fromEntries(
    Object.entries(inputs).map(([name, { shape: [a, b] }]) => [
      name,
      Float32Array.from({ length: a * b }, (_, i) => Math.sin(i) / 8),
    ]),
  ) as Record<keyof typeof inputs, Float32Array>;
  for (const threads of [1, 2]) {
    const learner = compile(learn, { inputs, threads, engine: "onnx" });
    const millions = (multiplications(learner.graph) / 1e6).toFixed(1);
    Deno.bench({
      name: `${millions} million multiplications, threads: ${threads}`,
      group: `${rows} rows, ${units} units`,
      baseline: threads === 1,
      fn: () => void learner.run(arrays),
    });
  }
}
