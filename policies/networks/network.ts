import type { Params } from "@bellman/compute";
import type { RandomSource } from "@bellman/types";
import type * as tf from "@tensorflow/tfjs";

export { addPrefix, pickPrefix } from "@bellman/compute";

/** Inputs of a {@link Network}. The rows are env-major: `row = env * numSteps + step`. */
export interface NetworkInputs {
  /** Inputs `[batch, ...inputShape]`, float32. */
  readonly x: tf.Tensor;
  /**
   * Recurrent state before the first step `[numEnvs, stateSize]`: cell state, then
   * hidden state.
   *
   * @default zeros, with each row taken as an environment of its own
   */
  readonly state?: tf.Tensor2D;
  /**
   * Episode starts `[batch]`: 1 where the recurrent state is reset before this row,
   * else 0.
   *
   * @default zeros
   */
  readonly masks?: tf.Tensor1D;
  /**
   * Normalize by the statistics of the batch, and return new running ones; networks
   * with batch normalization only.
   *
   * @default false: by the running statistics
   */
  readonly training?: boolean;
  /**
   * Uniform random numbers in [0, 1) `[batch, units of all hidden layers]`, which drop
   * units; networks with dropout only.
   *
   * @default none is dropped
   */
  readonly dropout?: tf.Tensor2D;
}

/** Output of a {@link Network}. */
export interface NetworkOutput {
  /** Features `[batch, outputSize]`. */
  readonly output: tf.Tensor2D;
  /** Recurrent state after the last step `[numEnvs, stateSize]`; recurrent only. */
  readonly state?: tf.Tensor2D;
  /** New running statistics by path, `running/...`; batch normalization in training only. */
  readonly running?: Params;
}

/**
 * Network as pure functions: `init` makes parameters, `apply` computes features. Any
 * such object is accepted in place of a network's name.
 */
export interface Network {
  /** Shape of one input, without the batch. */
  readonly inputShape: readonly number[];
  /** Number of features. */
  readonly outputSize: number;
  /** Size of one environment's recurrent state, 0 if not recurrent. */
  readonly stateSize: number;
  /** Makes initial parameters; paths are relative, as `dense0/kernel`. */
  init(random: RandomSource): Params;
  /** Computes features. */
  apply(params: Params, inputs: NetworkInputs): NetworkOutput;
  /**
   * Applies several sets of parameters to inputs of the same sizes, faster than one
   * after another.
   *
   * @default absent: `apply` of each
   */
  applyAll?(
    each: readonly (readonly [params: Params, inputs: NetworkInputs])[],
  ): NetworkOutput[];
}

/**
 * Makes the initial values of a parameter: row-major, for a shape whose last axis is
 * the outputs (`[in, out]`, or `[height, width, in, out]`).
 */
export type Initializer = (
  shape: readonly number[],
  random: RandomSource,
) => Float32Array<ArrayBuffer>;

/**
 * Makes the initial values of a bias: one for each output of the layer.
 *
 * @param kernelShape Shape of the layer's kernel, whose last axis is the
 * outputs.
 */
export type BiasInitializer = (
  kernelShape: readonly number[],
  random: RandomSource,
) => Float32Array<ArrayBuffer>;

/**
 * Returns one tensor of a parameter map.
 *
 * @param params Map from path to tensor.
 * @param path Path of the tensor.
 * @returns The tensor.
 * @throws {RangeError} If there is no tensor of that path.
 *
 * @example
 * ```ts
 * import { parameter } from "@bellman/policies";
 * import { assertThrows } from "@std/assert";
 *
 * assertThrows(
 *   () => parameter({}, "pi/head/bias"),
 *   RangeError,
 *   "Cannot find the parameter 'pi/head/bias'",
 * );
 * ```
 */
export function parameter<T extends tf.Tensor = tf.Tensor>(
  params: Readonly<Record<string, tf.Tensor>>,
  path: string,
): T {
  const tensor = params[path];
  if (tensor === undefined) {
    throw new RangeError(
      `Cannot find the parameter '${path}' among ${
        Object.keys(params).join(", ") || "none"
      }`,
    );
  }
  return tensor as T;
}

/** Name of an activation function. */
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

/** Activation function by name, or as an elementwise function. */
export type Activation = ActivationName | ((x: tf.Tensor) => tf.Tensor);

/**
 * Separates running statistics, which no optimizer moves, from the other parameters.
 *
 * @param params Parameters of a network, a policy or critics.
 * @returns Both, by their paths; those of running statistics have a part `running`.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { splitRunning } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * const [scale, mean] = [tf.ones([2]), tf.zeros([2])];
 * const { weights, running } = splitRunning({
 *   "qf1/norm0/scale": scale,
 *   "qf1/running/norm0/mean": mean,
 * });
 * assertEquals(Object.keys(weights), ["qf1/norm0/scale"]);
 * assertEquals(Object.keys(running), ["qf1/running/norm0/mean"]);
 * ```
 */
export function splitRunning(
  params: Params,
): Record<"weights" | "running", Params> {
  const parts: Record<"weights" | "running", Params> = {
    weights: {},
    running: {},
  };
  for (const [path, it] of Object.entries(params)) {
    const isRunning = path.split("/").includes("running");
    parts[isRunning ? "running" : "weights"][path] = it;
  }
  return parts;
}
