import { assertAlmostEquals, assertEquals } from "@std/assert";
import { valueAndGradients } from "@bellman/compute";
import fc from "fast-check";
import * as tf from "@tensorflow/tfjs";
import {
  discreteEntropies,
  discreteSoftValues,
  softValues,
  temperatureLoss,
} from "./losses.ts";

await tf.setBackend("cpu");

Deno.test("the value is soft by the temperature, relative to the prior", () => {
  const values = softValues(tf.tensor1d([1]), tf.tensor1d([-2]), {
    alpha: tf.scalar(3),
    logPrior: tf.tensor1d([-1.5]),
  });
  assertEquals(values.arraySync(), [1 - 3 * (-2 + 1.5)]);
});

Deno.test("the temperature's gradient is the entropy above what is wanted", () => {
  const logProb = tf.tensor1d([-1, -4]); // an entropy of 2.5
  const { gradients } = valueAndGradients(({ logAlpha }) => ({
    loss: temperatureLoss(logAlpha as tf.Scalar, logProb, {
      targetEntropy: 2,
    }),
  }), { logAlpha: tf.scalar(0.3) });
  assertEquals(gradients.logAlpha.dataSync()[0], 0.5);
});

const row = fc.array(fc.float({ min: -3, max: 3, noNaN: true }), {
  minLength: 3,
  maxLength: 3,
});

const logSumExp = (values: readonly number[]) =>
  Math.log(values.reduce((sum, it) => sum + Math.exp(it), 0));

Deno.test("the policy softmax(Q / alpha) has the largest soft value", () => {
  fc.assert(fc.property(row, row, (q, other) => {
    const alpha = 0.7;
    const values = tf.tensor2d([q, q]);
    const logits = tf.tensor2d([q.map((it) => it / alpha), other]);
    const logProbs = tf.logSoftmax(logits) as tf.Tensor2D;
    const [best, worse] = discreteSoftValues(values, logProbs, { alpha })
      .arraySync();
    const optimum = alpha * logSumExp(q.map((it) => it / alpha));
    assertAlmostEquals(best, optimum, 1e-5);
    assertEquals(worse <= best + 1e-5, true);
  }));
});

Deno.test("the soft value is the mean of Q plus alpha times the entropy", () => {
  const q = tf.tensor2d([[1, 2, 4]]);
  const logProbs = tf.log(tf.tensor2d([[0.5, 0.25, 0.25]])) as tf.Tensor2D;
  const [value] = discreteSoftValues(q, logProbs, { alpha: tf.scalar(2) })
    .arraySync();
  const [entropy] = discreteEntropies(logProbs).arraySync();
  assertAlmostEquals(entropy, 1.5 * Math.log(2), 1e-6);
  assertAlmostEquals(value, 2 + 2 * entropy, 1e-6);
});
