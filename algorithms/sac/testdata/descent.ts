/** Gradients of updates compared with numeric differentiation. */
import { mapParams, type Params, RandomStream } from "@bellman/compute";
import { assertAlmostEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";

/** Half the length of a step along a direction. */
const STEP = 1e-2;

/**
 * Asserts that parameters took a step of 1 down the gradient of a loss: along
 * random directions, the loss rises as the step says, by central differences.
 */
export function assertDescent(
  before: Params,
  after: Params,
  loss: (params: Params) => number,
): void {
  const random = new RandomStream(1), paths = Object.keys(before);
  const numbers = paths.reduce((sum, path) => sum + before[path].size, 0);
  for (let i = 0; i < 12; i++) {
    const direction = mapParams(before, ({ shape, size }) => {
      const normal = random.fillNormal(new Float32Array(size));
      return tf.div(tf.tensor(normal, shape), Math.sqrt(numbers));
    });
    const [above, below] = [STEP, -STEP].map((step) =>
      tf.tidy(() =>
        loss(
          mapParams(
            before,
            (it, path) => tf.add(it, tf.mul(direction[path], step)),
          ),
        )
      )
    );
    const slopes = paths.map((path) => {
      const descent = tf.sub(before[path], after[path]);
      return tf.sum(tf.mul(descent, direction[path])).dataSync()[0];
    });
    const slope = slopes.reduce((a, b) => a + b);
    assertAlmostEquals((above - below) / (2 * STEP), slope, 3e-4);
  }
}
