import * as tf from "@tensorflow/tfjs";
import { checkSetting, slotOptimizer } from "./_slots.ts";
import type { AdamOptions } from "./adam_options.ts";
import type { Optimizer } from "./optimizer.ts";

/** How far an Adam goes, given its two means. */
type StepSize = (inputs: {
  mean: tf.Tensor;
  square: tf.Tensor;
  /** `1 - beta1^t` and `1 - beta2^t`. */
  corrections: [tf.Tensor, tf.Tensor];
  learningRate: tf.Scalar;
  epsilon: number;
}) => tf.Tensor;

/** `1 - beta^step`, without the cancellation of float32 in the first steps. */
function oneMinusPower(beta: number, step: tf.Scalar): tf.Tensor {
  return tf.neg(tf.expm1(tf.mul(step, Math.log(beta))));
}

/** An Adam: the moving means are common to all, the step is not. */
export function adamWith(options: AdamOptions, change: StepSize): Optimizer {
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
