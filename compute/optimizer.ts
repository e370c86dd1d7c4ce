import type * as tf from "@tensorflow/tfjs";
import type { Params } from "./params.ts";

/**
 * What an optimizer remembers: a flat map of its slots by the path of the
 * parameter, such as `rms/pi/dense0/kernel`. It is saved like parameters.
 *
 * @example
 * ```ts
 * import { rmspropTf1, type OptimizerState } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * const params = { "pi/bias": tf.zeros([2]) };
 * const state: OptimizerState = rmspropTf1().init(params);
 * assertEquals(Object.keys(state), ["rms/pi/bias"]);
 * ```
 */
export type OptimizerState = Params;

/**
 * What one step of an optimizer needs beside parameters and gradients.
 *
 * @example
 * ```ts
 * import { sgd, type OptimizerStepOptions } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * const params = { w: tf.scalar(1) };
 * const options: OptimizerStepOptions = {
 *   state: sgd().init(params),
 *   learningRate: tf.scalar(0.5),
 * };
 * const { w } = sgd().apply(params, { w: tf.scalar(1) }, options).params;
 * assertEquals(w.dataSync()[0], 0.5);
 * ```
 */
export interface OptimizerStepOptions {
  /** The state after the step before, or of {@linkcode Optimizer.init}. */
  state: OptimizerState;
  /** The learning rate of this step: an input, so that schedules can move it. */
  learningRate: tf.Scalar;
}

/**
 * What one step of an optimizer returns: new tensors, the old ones stay.
 *
 * @example
 * ```ts
 * import { sgd, type OptimizerStep } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * const params = { w: tf.scalar(1) };
 * const step: OptimizerStep = sgd().apply(params, { w: tf.scalar(1) }, {
 *   state: {},
 *   learningRate: tf.scalar(0.25),
 * });
 * assertEquals(step.params.w.dataSync()[0], 0.75);
 * assertEquals(step.state, {});
 * ```
 */
export interface OptimizerStep {
  /** The parameters after the step. */
  params: Params;
  /** The optimizer's state after the step. */
  state: OptimizerState;
}

/**
 * A pure optimizer: it holds settings and no state.
 *
 * @example
 * ```ts
 * import { type Optimizer, sgd } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * const optimizer: Optimizer = sgd();
 * const params = { w: tf.scalar(1) };
 * const step = optimizer.apply(params, { w: tf.scalar(0.5) }, {
 *   state: optimizer.init(params),
 *   learningRate: tf.scalar(1),
 * });
 * assertEquals(step.params.w.dataSync()[0], 0.5);
 * ```
 */
export interface Optimizer {
  /**
   * The state before the first step.
   *
   * @param params The parameters that will be optimized.
   * @returns New tensors by slot and path.
   */
  init(params: Params): OptimizerState;
  /**
   * Takes one step.
   *
   * @param params The parameters before the step.
   * @param gradients Their gradients, by the same paths.
   * @param options State and learning rate.
   * @returns The parameters and the state after the step, in new tensors.
   */
  apply(
    params: Params,
    gradients: Params,
    options: OptimizerStepOptions,
  ): OptimizerStep;
}
