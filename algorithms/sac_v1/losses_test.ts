import { RandomStream, valueAndGradients } from "@bellman/compute";
import { squashedGaussian } from "@bellman/policies";
import { reparameterizedPolicyLoss, softValues } from "@bellman/sac";
import { assertAlmostEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { likelihoodRatioPolicyLoss, normalPriorLogProb } from "./losses.ts";

await tf.setBackend("cpu");

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

Deno.test("the normal prior is that of all numbers of an action", () => {
  const actions = tf.tensor3d([[[1, 2], [0, 0]], [[0, 0], [0, 0]]]);
  const [first, second] = normalPriorLogProb(actions).arraySync();
  assertAlmostEquals(second, -2 * Math.log(2 * Math.PI), 1e-6);
  assertAlmostEquals(first, second - 2.5, 1e-6);
});
