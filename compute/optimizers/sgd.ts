import * as tf from "@tensorflow/tfjs";
import {
  checkSetting,
  type Optimizer,
  slotOptimizer,
  type SlotStep,
} from "./optimizer.ts";

/** Settings of {@linkcode sgd}. */
export interface SgdOptions {
  /**
   * Share of the velocity that each step keeps; 0 for plain descent.
   *
   * @default 0
   */
  momentum?: number;
  /**
   * True to take the gradient after the momentum's move (Nesterov).
   *
   * @default false
   */
  nesterov?: boolean;
}

/**
 * Makes stochastic gradient descent with momentum: `v = momentum v + g`,
 * `w = w - lr v`, or with Nesterov's form `w = w - lr (g + momentum v)`.
 *
 * @param options Momentum and its form.
 * @returns The optimizer.
 * @throws {RangeError} If the momentum lies outside of 0 to 1.
 * @throws {TypeError} If Nesterov's form is asked for without a momentum.
 * @example
 * ```ts
 * import { sgd } from "@bellman/compute";
 * import { assertAlmostEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * const optimizer = sgd({ momentum: 0.9 });
 * const params = { w: tf.scalar(1) };
 * const step = optimizer.apply(params, { w: tf.scalar(2) }, {
 *   state: optimizer.init(params),
 *   learningRate: tf.scalar(0.1),
 * });
 * assertAlmostEquals(step.params.w.dataSync()[0], 0.8, 1e-6);
 * ```
 */
export function sgd(options: SgdOptions = {}): Optimizer {
  const { momentum = 0, nesterov = false } = options;
  checkSetting("momentum", momentum, { minimum: 0, below: 1 });
  if (nesterov && momentum === 0) {
    throw new TypeError(
      "Cannot use Nesterov's form with momentum = 0: give a momentum above 0",
    );
  }
  return slotOptimizer({
    slots: momentum > 0 ? { velocity: 0 } : {},
    step: (gradient, before, { learningRate }): SlotStep => {
      if (momentum === 0) {
        return { change: tf.mul(gradient, learningRate), slots: {} };
      }
      const velocity = tf.add(tf.mul(before.velocity, momentum), gradient);
      const direction = nesterov
        ? tf.add(gradient, tf.mul(velocity, momentum))
        : velocity;
      return { change: tf.mul(direction, learningRate), slots: { velocity } };
    },
  });
}
