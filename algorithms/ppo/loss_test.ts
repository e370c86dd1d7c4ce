import { valueAndGradients } from "@bellman/compute";
import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { clippedSurrogateLoss, clippedValueLoss } from "./loss.ts";

await tf.setBackend("cpu");

const logs = fc.double({ min: -2, max: 2, noNaN: true });
const rows = fc.array(fc.tuple(logs, logs, logs), {
  minLength: 1,
  maxLength: 8,
});
const column = (rows: readonly number[][], i: number) =>
  tf.tensor1d(rows.map((row) => row[i]));

Deno.test("a ratio beyond the range has no gradient where it is better already", () => {
  for (
    const [ratio, advantage, slope] of [
      [1.3, 1, 0],
      [1.3, -1, 1.3],
      [0.7, -1, 0],
      [0.7, 1, -0.7],
      [1.1, 1, -1.1],
    ]
  ) {
    const { gradients } = valueAndGradients(({ logProb }) => ({
      loss: clippedSurrogateLoss({
        logProb: logProb as tf.Tensor1D,
        oldLogProb: tf.tensor1d([0]),
        advantages: tf.tensor1d([advantage]),
      }, 0.2).policyLoss,
    }), { logProb: tf.tensor1d([Math.log(ratio)]) });
    assertAlmostEquals(gradients.logProb.dataSync()[0], slope, 1e-6);
  }
});

Deno.test("the loss is never less than the unclipped one, nor the divergence than 0", () => {
  fc.assert(fc.property(rows, (rows) => {
    tf.tidy(() => {
      const [logProb, oldLogProb, advantages] = [0, 1, 2]
        .map((i) => column(rows, i));
      const inputs = { logProb, oldLogProb, advantages };
      const { policyLoss, approxKl } = clippedSurrogateLoss(inputs, 0.2);
      const ratio = tf.exp(tf.sub(logProb, oldLogProb));
      const plain = -tf.mean(tf.mul(ratio, advantages)).dataSync()[0];
      assert(policyLoss.dataSync()[0] >= plain - 1e-5);
      assert(approxKl.dataSync()[0] > -1e-5);
    });
  }));
});

Deno.test("the policy that acted is at no distance", () => {
  const logProb = tf.tensor1d([-0.3, -2]);
  const { policyLoss, approxKl, clipFraction } = clippedSurrogateLoss(
    { logProb, oldLogProb: logProb, advantages: tf.tensor1d([1, 3]) },
    0.2,
  );
  const all = [policyLoss, approxKl, clipFraction].map((it) => it.arraySync());
  assertEquals(all, [-2, 0, 0]);
});

Deno.test("a value that must return has a gradient from beyond the range", () => {
  const slopeAt = (value: number, target: number) =>
    valueAndGradients(({ values }) => ({
      loss: clippedValueLoss({
        values: values as tf.Tensor1D,
        oldValues: tf.tensor1d([0]),
        returns: tf.tensor1d([target]),
      }, { clipRange: 1 }),
    }), { values: tf.tensor1d([value]) }).gradients.values.dataSync()[0];
  assertEquals(slopeAt(2, -1), 2 * 3); // has gone the wrong way
  assertEquals(slopeAt(2, 4), 0); // far enough for one update
  assertEquals(slopeAt(0.5, 4), -2 * 3.5);
});
