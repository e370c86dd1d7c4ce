import type * as tf from "@tensorflow/tfjs";
import type { Params } from "./params.ts";

/**
 * What an optimizer remembers: a flat map of its slots by the path of the
 * parameter, such as `rms/pi/dense0/kernel`. It is saved like parameters.
 */
export type OptimizerState = Params;

/** What one step of an optimizer needs beside parameters and gradients. */
export interface OptimizerStepOptions {
  /** The state after the step before, or of {@linkcode Optimizer.init}. */
  state: OptimizerState;
  /** The learning rate of this step: an input, so that schedules can move it. */
  learningRate: tf.Scalar;
}

/** What one step of an optimizer returns: new tensors, the old ones stay. */
export interface OptimizerStep {
  /** The parameters after the step. */
  params: Params;
  /** The optimizer's state after the step. */
  state: OptimizerState;
}

/** A pure optimizer: it holds settings and no state. */
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
