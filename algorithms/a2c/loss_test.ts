import { assertAlmostEquals, assertEquals } from "@std/assert";
import { valueAndGradients } from "@bellman/compute";
import { categorical } from "@bellman/policies";
import * as tf from "@tensorflow/tfjs";
import { a2cLoss, policyGradientLoss, stateValueLoss } from "./loss.ts";

await tf.setBackend("cpu");

Deno.test("the gradient of the policy loss is the score times the advantage", () => {
  // d/dlogits of mean(A * -log pi(a)) is A * (pi - onehot(a)) / batch.
  const logits = tf.tensor2d([[0, 0], [Math.log(3), 0]]);
  const actions = tf.tensor1d([0, 1], "int32");
  const advantages = tf.tensor1d([2, -4]);
  const { gradients } = valueAndGradients((params) => ({
    loss: policyGradientLoss(
      categorical(2).logProb(params.logits as tf.Tensor2D, actions),
      advantages,
    ),
  }), { logits });
  const expected = [
    2 * (0.5 - 1) / 2,
    2 * 0.5 / 2,
    -4 * 0.75 / 2,
    4 * 0.75 / 2,
  ];
  gradients.logits.dataSync().forEach((value, i) =>
    assertAlmostEquals(value, expected[i], 1e-6)
  );
});

Deno.test("the value loss has no factor 1/2", () => {
  const loss = stateValueLoss(tf.tensor1d([0, 0]), tf.tensor1d([1, 3]));
  assertEquals(loss.arraySync(), 5);
});

Deno.test("the loss is the weighted sum of its parts", () => {
  const inputs = {
    logProb: tf.tensor1d([-0.5, -1.5]),
    entropy: tf.tensor1d([0.25, 0.75]),
    values: tf.tensor1d([1, 2]),
    advantages: tf.tensor1d([1, -1]),
    returns: tf.tensor1d([3, 2]),
  };
  const weights = { entropyCoefficient: tf.scalar(0.5), valueCoefficient: 2 };
  const { loss, policyLoss, valueLoss, entropy } = a2cLoss(inputs, weights);
  assertEquals(policyLoss.arraySync(), -0.5);
  assertEquals(valueLoss.arraySync(), 2);
  assertEquals(entropy.arraySync(), 0.5);
  assertEquals(loss.arraySync(), -0.5 - 0.5 * 0.5 + 2 * 2);
});
