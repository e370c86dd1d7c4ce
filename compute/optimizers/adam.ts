import * as tf from "@tensorflow/tfjs";
import { checkSetting, type Optimizer, slotOptimizer } from "./optimizer.ts";

/** Settings of {@linkcode adam} and {@linkcode adamTf1}. */
export interface AdamOptions {
  /**
   * Share of the mean gradient that each step keeps, 0 to 1.
   *
   * @default 0.9
   */
  beta1?: number;
  /**
   * Share of the mean square that each step keeps, 0 to 1.
   *
   * @default 0.999
   */
  beta2?: number;
  /**
   * Added to the root of the mean square.
   *
   * @default 1e-8
   */
  epsilon?: number;
}

/** Step of an Adam, given its two means. */
type StepSize = (inputs: {
  mean: tf.Tensor;
  square: tf.Tensor;
  /** `1 - beta1^t` and `1 - beta2^t`. */
  corrections: [tf.Tensor, tf.Tensor];
  learningRate: tf.Scalar;
  epsilon: number;
}) => tf.Tensor;

/**
 * Computes `1 - beta^step` without the cancellation of float32 in the first
 * steps.
 */
function oneMinusPower(beta: number, step: tf.Scalar): tf.Tensor {
  return tf.neg(tf.expm1(tf.mul(step, Math.log(beta))));
}

/** Makes an Adam: the moving means are common to all, the step is not. */
function adamWith(options: AdamOptions, change: StepSize): Optimizer {
  const { beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8 } = options;
  checkSetting("beta1", beta1, { minimum: 0, below: 1 });
  checkSetting("beta2", beta2, { minimum: 0, below: 1 });
  checkSetting("epsilon", epsilon, { minimum: 0 });
  return slotOptimizer({
    slots: { m: 0, v: 0 },
    countsSteps: true,
    step: (gradient, { m, v }, { learningRate, step }) => {
      const mean = tf.add(tf.mul(m, beta1), tf.mul(gradient, 1 - beta1));
      const square = tf.add(
        tf.mul(v, beta2),
        tf.mul(tf.square(gradient), 1 - beta2),
      );
      const corrections: [tf.Tensor, tf.Tensor] = [
        oneMinusPower(beta1, step),
        oneMinusPower(beta2, step),
      ];
      return {
        change: change({ mean, square, corrections, learningRate, epsilon }),
        slots: { m: mean, v: square },
      };
    },
  });
}

/**
 * Makes Adam as it is written today (Kingma and Ba's algorithm, PyTorch's
 * form): `w = w - lr mHat / (sqrt(vHat) + epsilon)` with both means corrected
 * for their start at 0.
 *
 * @param options Betas and epsilon.
 * @returns The optimizer; its state counts the steps under `step`.
 * @throws {RangeError} If a setting lies outside of its range.
 * @example
 * ```ts
 * import { adam } from "@bellman/compute";
 * import { assertAlmostEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * const optimizer = adam();
 * const params = { w: tf.scalar(1) };
 * const step = optimizer.apply(params, { w: tf.scalar(5) }, {
 *   state: optimizer.init(params),
 *   learningRate: tf.scalar(0.1),
 * });
 * // The first step has the length of the learning rate.
 * assertAlmostEquals(step.params.w.dataSync()[0], 0.9, 1e-5);
 * ```
 */
export function adam(options: AdamOptions = {}): Optimizer {
  return adamWith(
    options,
    ({ mean, square, corrections, learningRate, epsilon }) => {
      // The root of the correction is one number, that of a division is many.
      const scale = tf.div(1, tf.sqrt(corrections[1]));
      const root = tf.mul(tf.sqrt(square), scale);
      const rate = tf.div(learningRate, corrections[0]);
      return tf.mul(rate, tf.div(mean, tf.add(root, epsilon)));
    },
  );
}

/**
 * Makes Adam as TensorFlow 1 computes it: the corrections go into the learning
 * rate, `lrT = lr sqrt(1 - beta2^t) / (1 - beta1^t)`, and the epsilon is added
 * to the uncorrected root, `w = w - lrT m / (sqrt(v) + epsilon)`.
 *
 * @param options Betas and epsilon.
 * @returns The optimizer; its state counts the steps under `step`.
 * @throws {RangeError} If a setting lies outside of its range.
 * @example
 * ```ts
 * import { adamTf1 } from "@bellman/compute";
 * import { assertAlmostEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * const optimizer = adamTf1({ epsilon: 1 });
 * const params = { w: tf.scalar(1) };
 * const step = optimizer.apply(params, { w: tf.scalar(5) }, {
 *   state: optimizer.init(params),
 *   learningRate: tf.scalar(0.1),
 * });
 * const rate = 0.1 * Math.sqrt(1 - 0.999) / (1 - 0.9);
 * const root = Math.sqrt(0.001 * 25);
 * assertAlmostEquals(
 *   step.params.w.dataSync()[0],
 *   1 - rate * 0.5 / (root + 1),
 *   1e-6,
 * );
 * ```
 */
export function adamTf1(options: AdamOptions = {}): Optimizer {
  return adamWith(
    options,
    ({ mean, square, corrections, learningRate, epsilon }) => {
      const rate = tf.div(
        tf.mul(learningRate, tf.sqrt(corrections[1])),
        corrections[0],
      );
      return tf.mul(rate, tf.div(mean, tf.add(tf.sqrt(square), epsilon)));
    },
  );
}
