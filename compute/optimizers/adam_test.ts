import { assertAlmostEquals, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../backends/select_backend.ts";
import { runSteps } from "../testdata/run_steps.ts";
import { adam, adamTf1 } from "./adam.ts";

await selectBackend("cpu");

const GRADIENTS = [2, -1, 0.5, 0.25];

Deno.test("Adam follows its published recursion", () => {
  for (const epsilon of [1e-8, 0.5]) {
    const values = runSteps(adam({ epsilon }), GRADIENTS);
    let m = 0, v = 0, w = 0;
    GRADIENTS.forEach((g, i) => {
      m = 0.9 * m + 0.1 * g;
      v = 0.999 * v + 0.001 * g * g;
      const mHat = m / (1 - 0.9 ** (i + 1));
      const vHat = v / (1 - 0.999 ** (i + 1));
      w -= 0.1 * mHat / (Math.sqrt(vHat) + epsilon);
      assertAlmostEquals(values[i], w, 1e-6);
    });
  }
});

Deno.test("the state counts the steps", () => {
  const optimizer = adam();
  const params = { w: tf.scalar(0) };
  const state = optimizer.init(params);
  assertEquals(Object.keys(state), ["m/w", "v/w", "step"]);
  const after = optimizer.apply(params, { w: tf.scalar(1) }, {
    state,
    learningRate: tf.scalar(0.1),
  });
  assertEquals(after.state.step.dataSync()[0], 1);
  assertEquals(state.step.dataSync()[0], 0);
});

Deno.test("TF1's Adam corrects the rate and not the root", () => {
  for (const epsilon of [1e-8, 0.5]) {
    const values = runSteps(adamTf1({ epsilon }), GRADIENTS);
    let m = 0, v = 0, w = 0;
    GRADIENTS.forEach((g, i) => {
      m = 0.9 * m + 0.1 * g;
      v = 0.999 * v + 0.001 * g * g;
      const rate = 0.1 * Math.sqrt(1 - 0.999 ** (i + 1)) / (1 - 0.9 ** (i + 1));
      w -= rate * m / (Math.sqrt(v) + epsilon);
      assertAlmostEquals(values[i], w, 1e-6);
    });
  }
});
