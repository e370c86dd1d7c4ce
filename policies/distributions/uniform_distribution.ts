import * as tf from "@tensorflow/tfjs";
import { checkSize, tidied } from "./_shared.ts";
import type { ReparameterizedDistribution } from "./distribution.ts";

/** Options of {@link uniformDistribution}. */
export interface UniformDistributionOptions {
  /**
   * Smallest number.
   *
   * @default -1
   */
  readonly low?: number;
  /**
   * Largest number.
   *
   * @default 1
   */
  readonly high?: number;
  /**
   * Shape of one action, of `size` numbers in all.
   *
   * @default [size]
   */
  readonly shape?: readonly number[];
}

/**
 * Makes a uniform distribution over `size` independent numbers between bounds:
 * what explores before there is a policy. It has no parameters: they are of
 * shape `[batch, 0]` and say how many rows there are. No action is more likely
 * than another; `mode` is the middle.
 *
 * @param size Numbers in one action.
 * @param options Bounds and shape.
 * @returns The distribution; actions are float32 `[batch, ...shape]`.
 * @throws {RangeError} If `size` is not a positive integer, or the bounds are
 * not finite and in order.
 *
 * @example
 * ```ts
 * import { uniformDistribution } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const distribution = uniformDistribution(2);
 * const noise = tf.tensor2d([[0.75, 0]]); // uniform on [0, 1)
 * const actions = distribution.sample(tf.zeros([1, 0]), noise);
 * assertEquals(actions.arraySync(), [[0.5, -1]]);
 * ```
 */
export function uniformDistribution(
  size: number,
  options: UniformDistributionOptions = {},
): ReparameterizedDistribution {
  const { low = -1, high = 1, shape = [size] } = options;
  checkSize("uniform", size);
  if (!(Number.isFinite(high - low) && low < high)) {
    throw new RangeError(
      `Cannot make a uniform distribution from ${low} to ${high}: ` +
        `the bounds must be finite and in order`,
    );
  }
  const nats = size * Math.log(high - low);
  const perRow = (parameters: tf.Tensor2D, value: number): tf.Tensor1D =>
    tf.fill([parameters.shape[0]], value);
  const rawOf = (noise: tf.Tensor2D): tf.Tensor2D =>
    tf.add(tf.mul(noise, high - low), low);
  const shaped = (raw: tf.Tensor): tf.Tensor => tf.reshape(raw, [-1, ...shape]);
  function logProb(_: tf.Tensor2D, actions: tf.Tensor): tf.Tensor1D {
    const flat = tf.reshape(actions, [-1, size]);
    const above = tf.greaterEqual(flat, low), below = tf.lessEqual(flat, high);
    const inside = tf.all(tf.logicalAnd(above, below), 1);
    return tf.where(inside, -nats, -Infinity) as tf.Tensor1D;
  }
  return tidied({
    parameterSize: 0,
    actionShape: shape,
    actionDtype: "float32",
    noise: { kind: "uniform", size },
    logProb,
    logProbOfRaw: logProb,
    entropy: (parameters) => perRow(parameters, nats),
    klDivergence: (p) => perRow(p, 0),
    mode: (parameters) =>
      tf.fill([parameters.shape[0], ...shape], (low + high) / 2),
    sample: (_, noise) => shaped(rawOf(noise)),
    sampleWithLogProb(parameters, noise) {
      const raw = rawOf(noise);
      return { action: shaped(raw), logProb: perRow(parameters, -nats), raw };
    },
    regularization: (parameters) => perRow(parameters, 0),
  });
}
