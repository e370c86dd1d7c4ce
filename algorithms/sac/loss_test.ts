import { assertAlmostEquals, assertEquals } from "@std/assert";
import { valueAndGradients } from "@bellman/compute";
import fc from "fast-check";
import * as tf from "@tensorflow/tfjs";
import {
  absoluteTdErrors,
  criticLoss,
  criticTargets,
  softValues,
} from "./loss.ts";

await tf.setBackend("cpu");

const numbers = (length: number) =>
  fc.array(fc.float({ min: -4, max: 4, noNaN: true }), {
    minLength: length,
    maxLength: length,
  });

Deno.test("a terminated row does not bootstrap, a truncated one does", () => {
  const inputs = {
    rewards: tf.tensor1d([1, 1, 1]),
    // Of three rows, the second terminated and the third was truncated.
    terminated: tf.tensor1d([0, 1, 0]),
    nextValues: tf.tensor1d([10, 10, 10]),
  };
  const targets = criticTargets(inputs, { discount: 0.5 });
  assertEquals(targets.arraySync(), [6, 1, 6]);
});

Deno.test("each row has its own discount where there are several", () => {
  const targets = criticTargets({
    rewards: tf.tensor1d([1, 1]),
    terminated: tf.tensor1d([0, 0]),
    nextValues: tf.tensor1d([8, 8]),
  }, { discount: tf.tensor1d([0.5, 0.25]), rewardScale: tf.scalar(3) });
  assertEquals(targets.arraySync(), [7, 5]);
});

Deno.test("the value is soft by the temperature, relative to the prior", () => {
  const values = softValues(tf.tensor1d([1]), tf.tensor1d([-2]), {
    alpha: tf.scalar(3),
    logPrior: tf.tensor1d([-1.5]),
  });
  assertEquals(values.arraySync(), [1 - 3 * (-2 + 1.5)]);
});

Deno.test("a weight counts like as many rows, in loss and gradient", () => {
  fc.assert(fc.property(
    numbers(4),
    numbers(4),
    fc.shuffledSubarray([0, 0, 1, 2, 3, 3, 3], { minLength: 4, maxLength: 4 }),
    (values, targets, drawn) => {
      const counts = values.map((_, i) =>
        drawn.filter((it) => it === i).length
      );
      const ofWeights = valueAndGradients(({ values }) => ({
        loss: criticLoss(values as tf.Tensor1D, tf.tensor1d(targets), {
          weights: tf.tensor1d(counts),
        }),
      }), { values: tf.tensor1d(values) });
      const rows = tf.tensor1d(drawn, "int32");
      const ofRows = valueAndGradients(({ values }) => ({
        loss: criticLoss(
          tf.gather(values as tf.Tensor1D, rows),
          tf.gather(tf.tensor1d(targets), rows),
        ),
      }), { values: tf.tensor1d(values) });
      assertAlmostEquals(
        ofWeights.loss.arraySync(),
        ofRows.loss.arraySync(),
        1e-4,
      );
      const expected = ofRows.gradients.values.dataSync();
      ofWeights.gradients.values.dataSync().forEach((it, i) =>
        assertAlmostEquals(it, expected[i], 1e-5)
      );
    },
  ));
});

Deno.test("errors are the mean distance from the target, of either sign", () => {
  const errors = absoluteTdErrors(
    [tf.tensor1d([3, 0]), tf.tensor1d([1, -1])],
    tf.tensor1d([2, 2]),
  );
  assertEquals(errors.arraySync(), [1, 2.5]);
});
