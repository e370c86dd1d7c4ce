import { customGradient } from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";

/**
 * Computes quantile Huber losses, `sum_i mean_j |tau_i - (u_ij < 0)| huber(u_ij)` with
 * `u_ij = y_j - theta_i` and `tau_i = (i + 1/2) / K`. No gradient flows through the
 * targets.
 *
 * Source: Dabney et al. 2018 (https://arxiv.org/abs/1710.10044), equation 10.
 *
 * @param quantiles Estimated quantiles `theta` `[batch, K]`.
 * @param targets Samples `y` of the target distribution `[batch, M]`.
 * @returns Losses `[batch]`.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { quantileLosses } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * // The median: half the Huber loss.
 * const losses = quantileLosses(tf.tensor2d([[0]]), tf.tensor2d([[1]]));
 * assertEquals(losses.arraySync(), [0.25]);
 * ```
 */
export function quantileLosses(
  quantiles: tf.Tensor2D,
  targets: tf.Tensor2D,
): tf.Tensor1D {
  const [, count] = quantiles.shape, [, samples] = targets.shape;
  // By hand: the loss and its gradient are sums of the same products.
  const losses = customGradient<tf.Tensor1D>((...inputs) => {
    const [theta, save] = inputs as unknown as [tf.Tensor2D, tf.GradSaveFunc];
    const levels = tf.range(0.5 - count / 2, count / 2, 1, "float32");
    const errors = tf.sub(tf.expandDims(targets, 1), tf.expandDims(theta, 2));
    const clipped = tf.clipByValue(errors, -1, 1);
    // |tau - (u < 0)| c = c / 2 + (tau - 1/2) |c|, where c has the sign of u.
    const weighted = tf.add(
      tf.mul(clipped, 0.5),
      tf.mul(tf.abs(clipped), tf.reshape(tf.div(levels, count), [1, count, 1])),
    );
    save([tf.mul(tf.sum(weighted, 2), -1 / samples)]);
    const products = tf.mul(weighted, tf.sub(errors, tf.mul(clipped, 0.5)));
    return {
      value: tf.mul(tf.sum<tf.Tensor1D>(products, [1, 2]), 1 / samples),
      gradFunc: (dy, [slopes]) => tf.mul(tf.expandDims(dy, 1), slopes),
    };
  });
  return tf.tidy(() => losses(quantiles));
}

/**
 * Checks how many of the largest target quantiles are dropped for each critic.
 *
 * @param config Number of quantiles of each critic, null for none; number to drop, null
 * for 2, or `quantiles - 1` if that is less.
 * @param options Name of the algorithm, and what it expects instead of no quantiles.
 * @returns Number to drop, 0 without quantiles.
 * @throws {TypeError} If none would be left, or there are none.
 *
 * @example
 * ```ts
 * import { droppedOf } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * const dropped = (quantiles: number | null) =>
 *   droppedOf({ quantiles, droppedQuantiles: null }, { of: "TQC" });
 * assertEquals([25, 2, null].map(dropped), [2, 1, 0]);
 * ```
 */
export function droppedOf(
  { quantiles, droppedQuantiles: dropped }: {
    readonly quantiles: number | null;
    readonly droppedQuantiles: number | null;
  },
  { of, expected = "quantiles" }: {
    /** Name of the algorithm. */
    readonly of: string;
    /**
     * Settings that have quantiles.
     *
     * @default "quantiles"
     */
    readonly expected?: string;
  },
): number {
  const refuse = (settings: string, wanted: string) =>
    new TypeError(`Cannot run ${of} with ${settings}: expected ${wanted}`);
  if (quantiles === null) {
    if (dropped === null) return 0;
    throw refuse("droppedQuantiles and no quantiles", expected);
  }
  if (dropped === null) return Math.min(2, quantiles - 1);
  if (dropped < quantiles) return dropped;
  throw refuse(
    `droppedQuantiles: ${dropped} and quantiles: ${quantiles}`,
    `droppedQuantiles below ${quantiles}`,
  );
}

/**
 * Joins the quantiles of several critics and leaves out the largest, against
 * overestimation.
 *
 * Source: Kuznetsov et al. 2020 (https://arxiv.org/abs/2005.04269), section 4.
 *
 * @param quantiles Quantiles of each critic `[batch, K]`.
 * @param dropped Number of quantiles left out for each critic.
 * @returns The others, in rising order `[batch, critics * (K - dropped)]`.
 * @throws {RangeError} If none is left.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { smallestQuantiles } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const [first, second] = [tf.tensor2d([[3, 1]]), tf.tensor2d([[2, 9]])];
 * const kept = smallestQuantiles([first, second], 1);
 * assertEquals(kept.arraySync(), [[1, 2]]);
 * ```
 */
export function smallestQuantiles(
  quantiles: readonly tf.Tensor2D[],
  dropped: number,
): tf.Tensor2D {
  return tf.tidy(() => {
    const all = tf.concat([...quantiles], 1);
    const kept = all.shape[1] - dropped * quantiles.length;
    if (kept < 1) {
      throw new RangeError(
        `Cannot drop ${dropped} quantiles of ${quantiles.length} critics with ${
          all.shape[1]
        } in all: expected fewer`,
      );
    }
    return tf.neg(tf.topk(tf.neg(all), kept).values);
  });
}
