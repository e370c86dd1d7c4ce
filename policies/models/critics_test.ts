import { adam, valueAndGradients } from "@bellman/compute";
import { assertAlmostEquals, assertEquals } from "@std/assert";
import fc from "fast-check";
import * as tf from "@tensorflow/tfjs";
import {
  criticDiagnostics,
  criticLoss,
  criticStep,
  criticTargets,
  eachCritic,
  smallestEstimates,
} from "./critics.ts";

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
  const optimizer = adam();
  const critics = {
    "qf1/v": tf.tensor1d([3, 0]),
    "qf2/v": tf.tensor1d([1, -1]),
  };
  const { tdErrors } = criticStep(
    { critics, criticSlots: optimizer.init(critics) },
    (params) => ({
      estimates: eachCritic(params, ({ v }) => v as tf.Tensor1D),
      targets: tf.tensor1d([2, 2]),
    }),
    { optimizer, learningRate: tf.scalar(0.1) },
  );
  assertEquals(tdErrors.arraySync(), [1, 2.5]);
});

await tf.setBackend("cpu");

Deno.test("each number is that of its own Q function", () => {
  const diagnostics = criticDiagnostics({
    qf1: tf.tensor1d([1, 3, 5]),
    qf2: tf.tensor1d([2, 2, -1]),
  }, tf.tensor1d([0, 3, 4]));
  const expected = {
    q1_mean: 3,
    q1_std: Math.sqrt(8 / 3),
    q1_bellman_error: 1 / 3,
    q2_mean: 1,
    q2_std: Math.sqrt(2),
    q2_bellman_error: 5,
    q_difference: 8 / 3,
  };
  assertEquals(Object.keys(diagnostics), Object.keys(expected));
  for (const [name, number] of Object.entries(expected)) {
    const found = diagnostics[name].arraySync();
    assertAlmostEquals(found, number, 1e-6, name);
  }
});

Deno.test("the smallest of any number of critics counts", () => {
  const critics = {
    "qf1/w": tf.scalar(3),
    "qf2/w": tf.scalar(1),
    "qf3/w": tf.scalar(2),
  };
  const estimates = eachCritic(critics, ({ w }) => w);
  assertEquals(smallestEstimates(estimates).arraySync(), 1);
  const { qf1 } = estimates;
  assertEquals(smallestEstimates({ qf1 }).arraySync(), 3);
  const alone = { qf1: tf.tensor1d([1]) };
  assertEquals(Object.keys(criticDiagnostics(alone, tf.tensor1d([2]))), [
    "q1_mean",
    "q1_std",
    "q1_bellman_error",
  ]);
});
