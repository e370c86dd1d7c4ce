import * as tf from "@tensorflow/tfjs";

const withGradient = tf.customGrad((x, save) => {
  const rows = x as tf.Tensor2D;
  (save as tf.GradSaveFunc)([rows]);
  return {
    value: tf.logSumExp(rows, 1),
    gradFunc: (dy, [saved]) => tf.mul(tf.expandDims(dy, 1), tf.softmax(saved)),
  };
});

/**
 * Logarithm of the sum of the exponentials of each row, `[batch]`. Its gradient
 * is the softmax, where that of TensorFlow.js goes back through the maximum.
 */
export function logSumExp(x: tf.Tensor2D): tf.Tensor1D {
  return withGradient(x) as tf.Tensor1D;
}
