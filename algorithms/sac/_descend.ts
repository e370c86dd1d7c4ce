import {
  type LossValue,
  type Optimizer,
  type OptimizerState,
  type Params,
  valueAndGradients,
} from "@bellman/compute";
import type * as tf from "@tensorflow/tfjs";

/** Parameters, and the slots of their optimizer. */
export interface Part {
  readonly params: Params;
  readonly slots: OptimizerState;
}

/** A part after one step, the loss before it and what else was computed. */
export interface Descent<A extends Params> {
  params: Params;
  slots: OptimizerState;
  loss: tf.Scalar;
  aux: A;
}

/** One step of an optimizer down a loss. */
export function descend<A extends Params>(
  loss: (params: Params) => LossValue<A>,
  { params, slots }: Part,
  { optimizer, learningRate }: {
    optimizer: Optimizer;
    learningRate: tf.Scalar;
  },
): Descent<A> {
  const { gradients, ...value } = valueAndGradients(loss, params);
  const step = optimizer.apply(params, gradients, {
    state: slots,
    learningRate,
  });
  return { params: step.params, slots: step.state, ...value };
}
