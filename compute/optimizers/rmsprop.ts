import * as tf from "@tensorflow/tfjs";
import {
  checkSetting,
  type Optimizer,
  slotOptimizer,
  type SlotStep,
} from "./optimizer.ts";

/** Settings of {@linkcode rmsprop}. */
export interface RmspropOptions {
  /**
   * Share of the mean square that each step keeps, 0 to 1.
   *
   * @default 0.99
   */
  decay?: number;
  /**
   * Added to the root of the mean square, outside of the root.
   *
   * @default 1e-8
   */
  epsilon?: number;
  /**
   * Share of the step before that is added to this one; 0 for none.
   *
   * @default 0
   */
  momentum?: number;
  /**
   * True to take the mean square about the mean gradient.
   *
   * @default false
   */
  centered?: boolean;
}

/**
 * Makes RMSProp as it is written today (PyTorch's form): the mean square starts
 * at 0 and the epsilon stands outside of the root,
 * `w = w - lr g / (sqrt(ms) + epsilon)`.
 *
 * @param options Decay, epsilon, momentum, centering.
 * @returns The optimizer.
 * @throws {RangeError} If a setting lies outside of its range.
 * @example
 * ```ts
 * import { rmsprop } from "@bellman/compute";
 * import { assertAlmostEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * const optimizer = rmsprop();
 * const params = { w: tf.scalar(1) };
 * const step = optimizer.apply(params, { w: tf.scalar(2) }, {
 *   state: optimizer.init(params),
 *   learningRate: tf.scalar(0.1),
 * });
 * // The first step is the learning rate times 1 / sqrt(1 - decay).
 * assertAlmostEquals(step.params.w.dataSync()[0], 1 - 0.1 * 10, 1e-5);
 * ```
 */
export function rmsprop(options: RmspropOptions = {}): Optimizer {
  const { decay = 0.99, epsilon = 1e-8, momentum = 0, centered = false } =
    options;
  checkSetting("decay", decay, { minimum: 0, below: 1 });
  checkSetting("epsilon", epsilon, { minimum: 0 });
  checkSetting("momentum", momentum, { minimum: 0, below: 1 });
  const moving = (mean: tf.Tensor, value: tf.Tensor): tf.Tensor =>
    tf.add(tf.mul(mean, decay), tf.mul(value, 1 - decay));
  return slotOptimizer({
    slots: {
      rms: 0,
      ...(centered ? { mean: 0 } : {}),
      ...(momentum > 0 ? { momentum: 0 } : {}),
    },
    step: (gradient, before, { learningRate }): SlotStep => {
      const rms = moving(before.rms, tf.square(gradient));
      const slots: SlotStep["slots"] = { rms };
      let variance = rms;
      if (centered) {
        slots.mean = moving(before.mean, gradient);
        variance = tf.relu(tf.sub(rms, tf.square(slots.mean)));
      }
      let direction = tf.div(gradient, tf.add(tf.sqrt(variance), epsilon));
      if (momentum > 0) {
        direction = tf.add(tf.mul(before.momentum, momentum), direction);
        slots.momentum = direction;
      }
      return { change: tf.mul(direction, learningRate), slots };
    },
  });
}

/** Settings of {@linkcode rmspropTf1}. */
export interface RmspropTf1Options {
  /**
   * Share of the mean square that each step keeps, 0 to 1.
   *
   * @default 0.99
   */
  decay?: number;
  /**
   * Added to the mean square, inside of the root.
   *
   * @default 1e-5
   */
  epsilon?: number;
  /**
   * Share of the step before that is added to this one; 0 for none.
   *
   * @default 0
   */
  momentum?: number;
}

/**
 * Makes RMSProp as TensorFlow 1 computes it: A2C and ACER were tuned with it.
 *
 * `ms = decay ms + (1 - decay) g^2`, `w = w - lr g / sqrt(ms + epsilon)`: the
 * epsilon stands inside the root and the mean square `rms/...` starts at 1, so
 * that the first steps are small. With momentum,
 * `mom = momentum mom + lr g / sqrt(ms + epsilon)` and `w = w - mom`.
 *
 * @param options Decay, epsilon and momentum.
 * @returns The optimizer.
 * @throws {RangeError} If a setting lies outside of its range.
 * @example
 * ```ts
 * import { rmspropTf1 } from "@bellman/compute";
 * import { assertAlmostEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * const optimizer = rmspropTf1({ decay: 0.99, epsilon: 1e-5 });
 * const params = { w: tf.scalar(1) };
 * const step = optimizer.apply(params, { w: tf.scalar(2) }, {
 *   state: optimizer.init(params),
 *   learningRate: tf.scalar(0.1),
 * });
 * const expected = 1 - 0.1 * 2 / Math.sqrt(0.99 + 0.01 * 4 + 1e-5);
 * assertAlmostEquals(step.params.w.dataSync()[0], expected, 1e-6);
 * ```
 */
export function rmspropTf1(options: RmspropTf1Options = {}): Optimizer {
  const { decay = 0.99, epsilon = 1e-5, momentum = 0 } = options;
  checkSetting("decay", decay, { minimum: 0, below: 1 });
  checkSetting("epsilon", epsilon, { minimum: 0 });
  checkSetting("momentum", momentum, { minimum: 0, below: 1 });
  return slotOptimizer({
    slots: { rms: 1, ...(momentum > 0 ? { momentum: 0 } : {}) },
    step: (gradient, before, { learningRate }): SlotStep => {
      const rms = tf.add(
        tf.mul(before.rms, decay),
        tf.mul(tf.square(gradient), 1 - decay),
      );
      const rate = tf.div(learningRate, tf.sqrt(tf.add(rms, epsilon)));
      const scaled = tf.mul(gradient, rate);
      if (momentum === 0) return { change: scaled, slots: { rms } };
      const change = tf.add(tf.mul(before.momentum, momentum), scaled);
      return { change, slots: { rms, momentum: change } };
    },
  });
}
