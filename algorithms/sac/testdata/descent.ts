/** Gradients of updates compared with numeric differentiation. */
import { assertAlmostEquals } from "@std/assert";
import type { Params } from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";

/** Asserts that parameters took a step of 1 down the numeric gradient. */
export function assertDescent(
  before: Params,
  after: Params,
  loss: (params: Params) => number,
): void {
  const expected = numericGradients(loss, before);
  for (const path in before) {
    const descent = tf.sub(before[path], after[path]).dataSync();
    descent.forEach((it, i) =>
      assertAlmostEquals(it, expected[path][i], 2e-3, `${path}[${i}]`)
    );
  }
}

/** The gradient of a loss by central differences, by path. */
function numericGradients(
  loss: (params: Params) => number,
  params: Params,
): Record<string, number[]> {
  const step = 1e-2;
  const gradients: Record<string, number[]> = {};
  for (const path in params) {
    const values = params[path].dataSync();
    gradients[path] = Array.from(values, (_, i) => {
      const [above, below] = [step, -step].map((change) => {
        const moved = Float32Array.from(values);
        moved[i] += change;
        const tensor = tf.tensor(moved, params[path].shape);
        return tf.tidy(() => loss({ ...params, [path]: tensor }));
      });
      return (above - below) / (2 * step);
    });
  }
  return gradients;
}
