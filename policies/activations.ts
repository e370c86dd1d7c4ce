import * as tf from "@tensorflow/tfjs";

/** Name of a function applied to each feature of a layer. */
export type ActivationName =
  | "tanh"
  | "relu"
  | "elu"
  | "selu"
  | "leaky_relu"
  | "sigmoid"
  | "softplus"
  | "silu"
  | "linear";

/** An activation by name, or as a function that keeps the shape. */
export type Activation = ActivationName | ((x: tf.Tensor) => tf.Tensor);

const FUNCTIONS: Readonly<
  Record<ActivationName, (x: tf.Tensor) => tf.Tensor>
> = {
  tanh: (x) => tf.tanh(x),
  relu: (x) => tf.relu(x),
  elu: (x) => tf.elu(x),
  selu: (x) => tf.selu(x),
  leaky_relu: (x) => tf.leakyRelu(x, 0.01),
  sigmoid: (x) => tf.sigmoid(x),
  softplus: (x) => tf.softplus(x),
  silu: (x) => tf.mul(x, tf.sigmoid(x)),
  linear: (x) => x,
};

/** All names that {@link activationFunction} knows. */
export const activationNames: readonly ActivationName[] = Object.keys(
  FUNCTIONS,
) as ActivationName[];

/**
 * The function behind the name of an activation.
 *
 * @param activation Name, or a function, which is given back as it is.
 * @returns The function.
 * @throws {RangeError} If there is no activation of that name.
 *
 * @example
 * ```ts
 * import { activationFunction } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const relu = activationFunction("relu");
 * assertEquals(relu(tf.tensor1d([-1, 2])).arraySync(), [0, 2]);
 * ```
 */
export function activationFunction(
  activation: Activation,
): (x: tf.Tensor) => tf.Tensor {
  if (typeof activation === "function") return activation;
  if (Object.hasOwn(FUNCTIONS, activation)) return FUNCTIONS[activation];
  throw new RangeError(
    `Cannot use the activation '${activation}': choose one of ${
      activationNames.join(", ")
    }`,
  );
}
