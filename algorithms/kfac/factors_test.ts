import { selectBackend } from "@bellman/compute";
import { assert, assertAlmostEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import {
  type AverageOptions,
  averageWeights,
  batchFactors,
  eigenbasisMoments,
} from "./factors.ts";

await selectBackend("cpu");

const noise = (shape: [number, number], seed: number) =>
  tf.randomNormal(shape, 0, 1, "float32", seed) as tf.Tensor2D;

Deno.test("the product of factors has the trace of independent gradients' squares", () => {
  tf.tidy(() => {
    for (const positions of [1, 4]) {
      const rows = {
        inputs: noise([8, 3], 1),
        gradients: noise([8, 2], 2),
        positions,
        examples: 8 / positions,
      };
      const { input, output } = batchFactors(rows);
      const trace = (it: tf.Tensor2D) =>
        tf.sum(tf.mul(it, tf.eye(it.shape[0]))).arraySync() as number;
      const squares = (it: tf.Tensor) =>
        tf.sum(tf.square(it)).arraySync() as number;
      const expected = squares(rows.inputs) * squares(rows.gradients) /
        (8 * rows.examples);
      assertAlmostEquals(trace(input) * trace(output), expected, 1e-3);
    }
  });
});

Deno.test("moments in the eigenbasis are those of the examples' gradients", () => {
  tf.tidy(() => {
    for (const positions of [1, 3]) {
      const inputs = noise([6, 2], 3), gradients = noise([6, 2], 4);
      const input = noise([2, 2], 5), output = noise([2, 2], 6);
      const examples = 6 / positions;
      const moments = eigenbasisMoments({
        inputs,
        gradients,
        positions,
        examples,
      }, { input, output });
      let sum = tf.zeros([2, 2]);
      for (let i = 0; i < 6; i += positions) {
        const a = tf.slice(inputs, [i, 0], [positions, 2]);
        const g = tf.slice(gradients, [i, 0], [positions, 2]);
        const gradient = tf.matMul(
          tf.matMul(input, tf.matMul(a, g, true), true),
          output,
        );
        sum = tf.add(sum, tf.square(gradient));
      }
      const worst = tf.max(tf.abs(tf.sub(moments, tf.div(sum, examples))))
        .arraySync() as number;
      assert(worst < 1e-4, `off by ${worst}`);
    }
  });
});

/** Runs an average over numbers. */
function averageOf(numbers: number[], options: AverageOptions): number {
  return tf.tidy(() =>
    numbers.reduce((average, it, i) => {
      const { keep, add } = averageWeights(tf.scalar(i), options);
      return average * keep.dataSync()[0] + it * add.dataSync()[0];
    }, 0)
  );
}

Deno.test("moving averages have their closed forms", () => {
  const numbers = fc.array(fc.integer({ min: -5, max: 5 }), {
    minLength: 1,
    maxLength: 9,
  });
  const decays = fc.constantFrom(0, 0.5, 0.95, 0.999);
  fc.assert(
    fc.property(numbers, decays, (numbers, decay) => {
      const count = numbers.length;
      const weights = numbers.map((_, i) => decay ** (count - 1 - i));
      const sum = (it: number[]) => it.reduce((a, b) => a + b, 0);
      const weighted = sum(numbers.map((it, i) => it * weights[i]));
      const close = (options: AverageOptions, expected: number) =>
        assertAlmostEquals(
          averageOf(numbers, { decay, ...options }),
          expected,
          1e-4,
        );
      close({}, weighted / sum(weights));
      close({ kind: "accumulated", accumulated: count }, sum(numbers) / count);
    }),
    { seed: 1, numRuns: 50 },
  );
});
