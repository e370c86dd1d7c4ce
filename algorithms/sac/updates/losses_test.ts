import { assertAlmostEquals, assertEquals } from "@std/assert";
import { RandomStream, valueAndGradients } from "@bellman/compute";
import fc from "fast-check";
import * as tf from "@tensorflow/tfjs";
import {
  discreteEntropies,
  discreteSoftValues,
  reparameterizedPolicyLoss,
  softValues,
  temperatureLoss,
} from "./losses.ts";
import {
  likelihoodRatioPolicyLoss,
  normalPriorLogProb,
} from "../haarnoja2018/losses.ts";
import { squashedGaussian } from "@bellman/policies";

await tf.setBackend("cpu");

Deno.test("the value is soft by the temperature, relative to the prior", () => {
  const values = softValues(tf.tensor1d([1]), tf.tensor1d([-2]), {
    alpha: tf.scalar(3),
    logPrior: tf.tensor1d([-1.5]),
  });
  assertEquals(values.arraySync(), [1 - 3 * (-2 + 1.5)]);
});

Deno.test("both policy losses have the same gradient in the mean", () => {
  const distribution = squashedGaussian(1);
  const rows = 20_000;
  const noise = tf.tensor2d(
    new RandomStream(7).fillNormal(new Float32Array(rows)),
    [rows, 1],
  );
  const start = tf.tensor2d([[0.3, -0.5]]);
  const ownValues = (parameters: tf.Tensor, reparameterize: boolean) => {
    const all = tf.matMul(tf.ones([rows, 1]), parameters as tf.Tensor2D);
    const { action, logProb } = distribution.sampleWithLogProb(
      all as tf.Tensor2D,
      noise,
      { reparameterize },
    );
    const q = tf.sin(tf.mul(tf.reshape(action, [-1]), 3)) as tf.Tensor1D;
    const logPrior = normalPriorLogProb(action);
    return {
      logProb,
      values: softValues(q, logProb, { logPrior, alpha: 0.5 }),
    };
  };
  const pathwise = valueAndGradients(({ parameters }) => ({
    loss: reparameterizedPolicyLoss(ownValues(parameters, true).values),
  }), { parameters: start }).gradients.parameters.dataSync();
  const { values } = ownValues(start, false);
  const advantages = tf.sub(values, tf.mean(values)) as tf.Tensor1D;
  const score = valueAndGradients(({ parameters }) => ({
    loss: likelihoodRatioPolicyLoss(
      ownValues(parameters, false).logProb,
      advantages,
    ),
  }), { parameters: start }).gradients.parameters.dataSync();
  // Five standard errors of the noisier one, that by likelihood ratio.
  pathwise.forEach((it, i) => assertAlmostEquals(it, score[i], 0.04));
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

Deno.test("the normal prior is that of all numbers of an action", () => {
  const actions = tf.tensor3d([[[1, 2], [0, 0]], [[0, 0], [0, 0]]]);
  const [first, second] = normalPriorLogProb(actions).arraySync();
  assertAlmostEquals(second, -2 * Math.log(2 * Math.PI), 1e-6);
  assertAlmostEquals(first, second - 2.5, 1e-6);
});

await tf.setBackend("cpu");

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

await tf.setBackend("cpu");
