import { selectBackend } from "@bellman/compute";
import { assertAlmostEquals, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { adaptedDamping, predictedChange } from "./curvature.ts";

await selectBackend("cpu");

const SETTINGS = {
  diagonal: {},
  dampingKind: "factored",
  form: "inverse",
  average: {},
} as const;

Deno.test("the predicted change is that of the damped quadratic", () => {
  // One weight: loss g d + (a g2 + damping) d^2 / 2 for w + d, with d = -2.
  const change = predictedChange(tf.tensor1d([3]), tf.tensor1d([2]), {
    ...SETTINGS,
    like: { w: tf.zeros([1, 1]) },
    layers: [{ kernel: "w" }],
    state: {
      "input/w": tf.tensor2d([[5]]),
      "output/w": tf.tensor2d([[0.5]]),
      damping: tf.scalar(0.1),
    },
  });
  assertAlmostEquals(change.dataSync()[0], -6 + 0.5 * 2.6 * 4, 1e-5);
});

Deno.test("a known Fisher information curves the predicted change", () => {
  const [gradient, step] = [3, 2].map((it) => tf.tensor1d([it]));
  const change = predictedChange(gradient, step, {
    ...SETTINGS,
    like: { s: tf.scalar(0) },
    layers: [],
    diagonal: { s: 5 },
    state: { damping: tf.scalar(0.1) },
  });
  assertAlmostEquals(change.dataSync()[0], -6 + 0.5 * 5.1 * 4, 1e-5);
});

Deno.test("the damping falls above 3/4, rises below 1/4, and keeps its minimum", () => {
  const after = (ratio: number, damping = 1) =>
    adaptedDamping(tf.scalar(damping), tf.scalar(ratio), {
      every: 2,
      rate: 0.5,
    }).dataSync()[0];
  assertEquals([after(0.8), after(0.5), after(0.2), after(NaN)], [
    0.25,
    1,
    4,
    4,
  ]);
  assertEquals(after(0.8, 2e-8), Math.fround(1e-8));
});
