import { selectBackend } from "@bellman/compute";
import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { categoricalLoss, projected, tdLoss } from "./loss.ts";

await selectBackend("cpu");

const rows = (...numbers: number[][]) => tf.tensor2d(numbers);

Deno.test("the Huber loss has the gradient of errors clipped to [-1, 1]", () => {
  const gradient = tf.grad((values: tf.Tensor) =>
    tf.sum(tdLoss(values as tf.Tensor1D, tf.tensor1d([0, 0, 0, 0])).losses)
  );
  const found = gradient(tf.tensor1d([-7, -0.5, 0, 3])).arraySync();
  assertEquals(found, [-1, -0.5, 0, 1]);
});

Deno.test("a projection keeps mass and, within the range, the mean", () => {
  const probabilities = rows([0.1, 0.2, 0.3, 0.4], [0, 0.5, 0.5, 0]);
  const { targets, clipped } = projected(probabilities, {
    rewards: tf.tensor1d([0.3, -0.2]),
    discounts: tf.tensor1d([0.5, 0.9]),
    range: [-3, 3],
  });
  assertEquals(clipped.arraySync(), 0);
  const atoms = [-3, -1, 1, 3], before = probabilities.arraySync();
  targets.arraySync().forEach((row, i) => {
    const mean = (p: number[]) =>
      p.reduce((sum, it, j) => sum + it * atoms[j], 0);
    assertAlmostEquals(row.reduce((sum, it) => sum + it), 1, 1e-6);
    const [reward, discount] = [[0.3, 0.5], [-0.2, 0.9]][i];
    assertAlmostEquals(mean(row), reward + discount * mean(before[i]), 1e-5);
  });
});

Deno.test("mass beyond the range is told, what falls on its ends is not", () => {
  const at = (reward: number) =>
    projected(rows([0, 0, 1], [0.5, 0.5, 0]), {
      rewards: tf.tensor1d([reward, reward]),
      discounts: tf.tensor1d([0, 0]),
      range: [0, 10],
    }).clipped.arraySync();
  assertEquals([at(0), at(10)], [0, 0]);
  assertAlmostEquals(at(10.5), 1, 1e-6);
  assertAlmostEquals(at(-1), 1, 1e-6);
});

Deno.test("a distribution that is its target has the least cross entropy", () => {
  const targets = rows([0.2, 0.8]);
  const lossAt = (p: number) =>
    categoricalLoss(rows([Math.log(1 - p), Math.log(p)]), targets).losses
      .arraySync()[0];
  assert(lossAt(0.8) < lossAt(0.7) && lossAt(0.8) < lossAt(0.9));
  // Far off, its gradient is that of one mass that is missing, not 0.
  const gradient = tf.grad((logits: tf.Tensor) =>
    tf.sum(categoricalLoss(logits as tf.Tensor2D, rows([0, 1])).losses)
  );
  const [[, wanted]] = gradient(rows([50, -50])).arraySync() as number[][];
  assertAlmostEquals(wanted, -1, 1e-6);
});
