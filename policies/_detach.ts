import * as tf from "@tensorflow/tfjs";

const stop = tf.customGrad((x) => ({
  value: (x as tf.Tensor).clone(),
  gradFunc: (dy) => tf.zerosLike(dy),
}));

/** The same values, through which no gradient flows: theirs is 0. */
export function detach<T extends tf.Tensor>(x: T): T {
  return stop(x) as T;
}

/**
 * What is computed from tensors, as a constant: nothing of it is recorded, so
 * that operations that have no gradient may be used.
 */
export function asConstant<T extends tf.Tensor>(compute: () => T): T {
  const cut = tf.customGrad((x) => ({
    value: compute(),
    gradFunc: () => tf.zerosLike(x as tf.Scalar),
  }));
  return cut(tf.scalar(0)) as T;
}
