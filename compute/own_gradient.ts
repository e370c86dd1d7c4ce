import * as tf from "@tensorflow/tfjs";

/** Function of tensors that gives its value and gradient, as for `tf.customGrad`. */
export type OwnGradientFunction<T extends tf.Tensor> = (
  ...inputs: (tf.Tensor | ((save: tf.Tensor[]) => void))[]
) => {
  value: T;
  gradFunc: (dy: T, saved: tf.Tensor[]) => tf.Tensor | tf.Tensor[];
};

let areOpen = false;

/**
 * Gives a function of tensors a gradient of its own, as `tf.customGrad` does: the one
 * that follows from its operations, computed in less time. Where operations are
 * observed, as by {@link layerTags}, that of the operations is taken.
 *
 * @param fn Returns the value, and the function from its gradient to those of the
 * inputs.
 * @returns The function of the inputs alone.
 *
 * @example
 * ```ts
 * import { customGradient } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const cube = customGradient((x, save) => {
 *   (save as tf.GradSaveFunc)([x as tf.Tensor]);
 *   return {
 *     value: tf.pow(x as tf.Tensor, 3),
 *     gradFunc: (dy, [x]) => tf.mul(dy, tf.mul(3, tf.square(x))),
 *   };
 * });
 * assertEquals(tf.grad((x) => cube(x))(tf.scalar(2)).dataSync()[0], 12);
 * ```
 */
export function customGradient<T extends tf.Tensor>(
  fn: OwnGradientFunction<T>,
): (...inputs: tf.Tensor[]) => T {
  if (!areOpen) return tf.customGrad(fn);
  return (...inputs) => fn(...inputs, (() => {}) as tf.GradSaveFunc).value;
}

/**
 * Says whether functions have their own gradients here: not where operations are
 * observed, so that tensors must be used one by one.
 *
 * @returns True outside of {@link layerTags}.
 *
 * @example
 * ```ts
 * import { hasOwnGradients } from "@bellman/compute";
 * import { assert } from "@std/assert";
 *
 * assert(hasOwnGradients());
 * ```
 */
export function hasOwnGradients(): boolean {
  return !areOpen;
}

/** Runs something in which functions have the gradients of their operations. */
export function withOpenGradients<T>(run: () => T): T {
  const before = areOpen;
  areOpen = true;
  try {
    return run();
  } finally {
    areOpen = before;
  }
}
