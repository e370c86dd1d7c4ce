import * as tf from "@tensorflow/tfjs";
import type { Optimizer } from "../optimizers.ts";

/** One parameter from 0, moved by the gradients at a rate of 0.1; its values. */
export function runSteps(
  optimizer: Optimizer,
  gradients: readonly number[],
): number[] {
  let params: Record<string, tf.Tensor> = { w: tf.scalar(0) };
  let state = optimizer.init(params);
  return gradients.map((gradient) => {
    const learningRate = tf.scalar(0.1);
    const options = { state, learningRate };
    ({ params, state } = optimizer.apply(
      params,
      { w: tf.scalar(gradient) },
      options,
    ));
    return params.w.dataSync()[0];
  });
}
