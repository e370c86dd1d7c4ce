import { tidy } from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";
import type { FactorPair } from "./layers.ts";
import type { LayerRows } from "./rows.ts";

/** Options of {@link batchFactors}. */
export interface BatchFactorsOptions {
  /**
   * Weight of the batch in the moving average.
   *
   * @default 1
   */
  readonly weight?: tf.Tensor | number;
}

/**
 * Computes the Kronecker factors `A` and `G` of one batch, with `F = A x G` for the
 * layer's block of the Fisher matrix of one example.
 *
 * Dense layers: `A = E[a a']`, `G = E[g g']` (Martens & Grosse 2015, section 3).
 * Convolutions: `A` is the expected sum over positions and `G` the mean over them
 * (Grosse & Martens 2016, section 3.1); recurrent layers likewise over the steps of an
 * example. Other scalings, such as baselines', have the same product, and the same step
 * with either damping.
 *
 * @param rows Inputs and output gradients of the layer.
 * @param options Weight of the batch.
 * @returns The factors.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { batchFactors } from "@bellman/kfac";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const { input, output } = batchFactors({
 *   inputs: tf.tensor2d([[1, 1], [3, 1], [1, 1], [3, 1]]),
 *   gradients: tf.tensor2d([[2], [4], [2], [4]]),
 *   positions: 1,
 *   examples: 4,
 * });
 * assertEquals(input.arraySync(), [[5, 2], [2, 1]]);
 * assertEquals(output.arraySync(), [[10]]);
 * ```
 */
export function batchFactors(
  rows: LayerRows,
  { weight = 1 }: BatchFactorsOptions = {},
): FactorPair<tf.Tensor2D> {
  const { inputs, gradients, examples, positions } = rows;
  const square = (it: tf.Tensor2D): tf.Tensor2D => tf.matMul(it, it, true);
  const factor = (rows: tf.Tensor2D, count: number): tf.Tensor2D => {
    const share = tf.div(weight, count);
    // Cheapest where there are the fewest elements: each position has a row.
    return positions > 1
      ? tf.mul(square(rows), share)
      : square(tf.mul(rows, tf.sqrt(share)));
  };
  return tidy(() => ({
    input: factor(inputs, examples),
    output: factor(gradients, gradients.shape[0]),
  }));
}

/**
 * Computes the second moments of the examples' gradients in the eigenbases of the
 * factors, where the Fisher matrix is nearly diagonal (EK-FAC).
 *
 * Source: George et al. 2018 (https://arxiv.org/abs/1806.03884), equation 9.
 *
 * @param rows Inputs and output gradients of the layer.
 * @param bases Eigenvectors of the factors, as columns.
 * @returns Second moments `[inputs, outputs]`.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { eigenbasisMoments } from "@bellman/kfac";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const moments = eigenbasisMoments({
 *   inputs: tf.tensor2d([[1, 0], [0, 2]]),
 *   gradients: tf.tensor2d([[3], [1]]),
 *   positions: 1,
 *   examples: 2,
 * }, { input: tf.eye(2), output: tf.eye(1) });
 * assertEquals(moments.arraySync(), [[4.5], [2]]);
 * ```
 */
export function eigenbasisMoments(
  rows: LayerRows,
  bases: FactorPair<tf.Tensor2D>,
): tf.Tensor2D {
  const { examples, positions } = rows;
  return tf.tidy(() => {
    const inputs = tf.matMul(rows.inputs, bases.input);
    const gradients = tf.matMul(rows.gradients, bases.output);
    if (positions === 1) {
      const squares = tf.matMul(tf.square(inputs), tf.square(gradients), true);
      return tf.div(squares, examples);
    }
    // An example's gradient is a sum over its positions.
    const ofExample = tf.matMul(
      tf.reshape(inputs, [examples, positions, -1]),
      tf.reshape(gradients, [examples, positions, -1]),
      true,
    );
    return tf.mean(tf.square(ofExample), 0);
  });
}

/** Names of moving averages of {@link averageWeights}. */
export type AverageKind = "zero_debiased" | "accumulated";

/** Moving average of the factors. */
export interface AverageOptions {
  /**
   * - `zero_debiased`: weights `decay^i`, divided by their sum (tensorflow/kfac);
   * - `accumulated`: the mean of the first batches, then weights
   *   `(1 - decay) decay^i` (baselines' ACKTR).
   *
   * @default "zero_debiased"
   */
  readonly kind?: AverageKind;
  /**
   * Decay per batch, from 0 to below 1.
   *
   * @default 0.95
   */
  readonly decay?: number;
  /**
   * Batches in the initial mean of an `accumulated` average.
   *
   * @default 100
   */
  readonly accumulated?: number;
}

/**
 * Computes the weights of one step of a moving average, `keep * average + add *
 * batch`.
 *
 * @param count Batches in the average so far.
 * @param options Kind and decay.
 * @returns The weights.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { averageWeights } from "@bellman/kfac";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const { keep, add } = averageWeights(tf.scalar(1), { decay: 0.5 });
 * assertAlmostEquals(keep.dataSync()[0], 0.5 / 1.5, 1e-6);
 * assertAlmostEquals(add.dataSync()[0], 1 / 1.5, 1e-6);
 * ```
 */
export function averageWeights(
  count: tf.Scalar,
  options: AverageOptions = {},
): Record<"keep" | "add", tf.Tensor> {
  const { kind = "zero_debiased", decay = 0.95, accumulated = 100 } = options;
  return tf.tidy(() => {
    if (kind === "accumulated") {
      const starts = tf.less(count, accumulated);
      return {
        keep: tf.where(starts, 1, decay),
        add: tf.where(starts, 1 / accumulated, 1 - decay),
      };
    }
    // 1 + decay + ... + decay^count, without the cancellation of float32.
    const powers = tf.neg(tf.expm1(tf.mul(count, Math.log(decay))));
    const sum = tf.add(tf.mul(powers, decay / (1 - decay)), 1);
    const add = decay > 0 ? tf.div(1, sum) : tf.scalar(1);
    return { keep: tf.sub(1, add), add };
  });
}
