import * as tf from "@tensorflow/tfjs";
import type { Params } from "@bellman/compute";
import { parameter } from "./parameters.ts";

type Save = (tensors: tf.Tensor[]) => void;
type Operation = (...inputs: tf.Tensor[]) => tf.Tensor;

/**
 * Gradients of `x kernel`. The matrices are transposed before they are
 * multiplied: the wasm backend's product of matrices that are to be read
 * transposed takes ten times as long as both steps.
 */
function productGradients(
  dy: tf.Tensor2D,
  [x, kernel]: tf.Tensor2D[],
): tf.Tensor[] {
  return [
    tf.matMul(dy, tf.transpose(kernel)),
    tf.matMul(tf.transpose(x), dy),
  ];
}

const product = tf.customGrad((x, kernel, save) => {
  const inputs = [x, kernel] as tf.Tensor2D[];
  (save as unknown as Save)(inputs);
  return {
    value: tf.matMul(inputs[0], inputs[1]),
    gradFunc: (dy, saved) =>
      productGradients(dy as tf.Tensor2D, saved as tf.Tensor2D[]),
  };
}) as Operation;

const affine = tf.customGrad((x, kernel, bias, save) => {
  const [a, b] = [x, kernel] as tf.Tensor2D[];
  (save as unknown as Save)([a, b]);
  return {
    value: tf.fused.matMul({ a, b, bias: bias as tf.Tensor1D }),
    gradFunc: (dy, saved) => [
      ...productGradients(dy as tf.Tensor2D, saved as tf.Tensor2D[]),
      tf.sum(dy as tf.Tensor2D, 0),
    ],
  };
}) as Operation;

/** `x kernel`. */
export function matMul(x: tf.Tensor2D, kernel: tf.Tensor2D): tf.Tensor2D {
  return product(x, kernel) as tf.Tensor2D;
}

/** `x kernel + bias`, in one kernel. */
export function dense(
  x: tf.Tensor2D,
  kernel: tf.Tensor2D,
  bias: tf.Tensor1D,
): tf.Tensor2D {
  return affine(x, kernel, bias) as tf.Tensor2D;
}

/** {@link dense} with the parameters `name/kernel` and `name/bias`. */
export function denseLayer(
  params: Params,
  name: string,
  x: tf.Tensor2D,
): tf.Tensor2D {
  return dense(
    x,
    parameter(params, `${name}/kernel`),
    parameter(params, `${name}/bias`),
  );
}
