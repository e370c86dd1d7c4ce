import { compile, selectBackend } from "@bellman/compute";
import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import {
  categorical,
  gaussian,
  type PredictiveDistribution,
  sampledLogProb,
} from "./predictive.ts";

await selectBackend("cpu");

const ROWS = 20_000;

/** Mean of products of gradients of sampled log-likelihoods by the outputs. */
function fisher(
  row: number[],
  noise: tf.Tensor,
  head: (outputs: tf.Tensor2D) => PredictiveDistribution,
): number[][] {
  const outputs = tf.tile(tf.tensor2d([row]), [ROWS, 1]);
  const scores = tf.grad((outputs) =>
    tf.sum(
      sampledLogProb(head(outputs as tf.Tensor2D), noise as tf.Tensor2D),
    )
  )(outputs);
  return tf.div(tf.matMul(scores, scores, true), ROWS)
    .arraySync() as number[][];
}

function assertClose(actual: number[][], expected: number[][]): void {
  actual.forEach((row, i) =>
    row.forEach((it, j) => assertAlmostEquals(it, expected[i][j], 0.02))
  );
}

function softmaxFisher(logits: number[]): number[][] {
  const p = [...tf.softmax(tf.tensor1d(logits)).dataSync()];
  return p.map((a, i) => p.map((b, j) => (i === j ? a : 0) - a * b));
}

Deno.test("sampled scores have the Fisher matrix of each head", () => {
  tf.tidy(() => {
    const uniform = tf.randomUniform([ROWS, 1], 0, 1, "float32", 5);
    const normal = (size: number) =>
      tf.randomNormal([ROWS, size], 0, 1, "float32", 5);
    const ofClasses = fisher([0, 1, -1], uniform, categorical);
    assertClose(ofClasses, softmaxFisher([0, 1, -1]));
    assertClose(
      fisher([3, 4], normal(2), (it) => gaussian(it, { variance: 4 })),
      [[
        0.25,
        0,
      ], [0, 0.25]],
    );
    // Mean and logarithm of the deviation: diag(1 / sigma^2, 2).
    const learned = fisher([1, Math.log(2)], normal(1), (it) => {
      const [mean, logStd] = tf.split(it, 2, 1);
      return gaussian(mean, { logStd });
    });
    assertAlmostEquals(learned[0][0], 0.25, 0.02);
    assertAlmostEquals(learned[0][1], 0, 0.03);
    assertAlmostEquals(learned[1][1], 2, 0.1);
  });
});

Deno.test("likelihoods are those of the targets, and heads are added up", () => {
  const logits = tf.tensor2d([[0, Math.log(3)], [0, 0]]);
  const policy = categorical(logits);
  const value = gaussian(tf.tensor1d([1, 2]));
  const normal = 0.5 * Math.log(2 * Math.PI);
  const uniform = tf.tensor2d([[0.3], [0.6]]);
  assertEquals([...policy.sample(uniform).dataSync()], [1, 1]);
  const both = tf.add(
    sampledLogProb(policy, uniform),
    sampledLogProb(value, tf.tensor2d([[0], [2]])),
  );
  assertAlmostEquals(both.dataSync()[0], Math.log(0.75) - normal, 1e-5);
  assertAlmostEquals(both.dataSync()[1], Math.log(0.5) - 2 - normal, 1e-5);
});

Deno.test("samples are the same compiled", () => {
  const logits = tf.randomNormal([7, 5], 0, 1, "float32", 1) as tf.Tensor2D;
  const noise = tf.randomUniform([7, 1], 0, 1, "float32", 2) as tf.Tensor2D;
  const compiled = compile(
    ({ logits, noise }) => ({
      it: categorical(logits).sample(noise),
    }),
    { inputs: { logits, noise }, engine: "onnx" },
  );
  const { it } = compiled.run({ logits, noise });
  assertEquals([...it], [
    ...categorical(logits).sample(noise).dataSync(),
  ]);
  assert(new Set(it).size > 1);
});
