import type * as tf from "@tensorflow/tfjs";

/** Random numbers that one row needs for one sample. */
export interface NoiseSpec {
  /** `uniform` is on [0, 1), `normal` has mean 0 and variance 1. */
  readonly kind: "uniform" | "normal";
  /** How many of them. */
  readonly size: number;
}

/**
 * A family of probability distributions over actions. The distributions
 * themselves are the rows of a tensor of parameters; all methods are pure, can
 * be differentiated with respect to those and take randomness as an argument.
 */
export interface Distribution {
  /** Numbers that make one distribution. */
  readonly parameterSize: number;
  /** Shape of one action, `[]` for a single number. */
  readonly actionShape: readonly number[];
  /** Type of the actions. */
  readonly actionDtype: "int32" | "float32";
  /** What {@link sample} needs for one row. */
  readonly noise: NoiseSpec;
  /**
   * Logarithm of the probability, or of its density, of each action.
   *
   * @param parameters Parameters `[batch, parameterSize]`.
   * @param actions Actions `[batch, ...actionShape]`.
   * @returns Nats `[batch]`, summed over the parts of an action.
   */
  logProb(parameters: tf.Tensor2D, actions: tf.Tensor): tf.Tensor1D;
  /**
   * Exact entropy (differential for continuous actions).
   *
   * @param parameters Parameters `[batch, parameterSize]`.
   * @returns Nats `[batch]`.
   */
  entropy(parameters: tf.Tensor2D): tf.Tensor1D;
  /**
   * Kullback-Leibler divergence of `q` from `p`: the mean of
   * `log p - log q` under `p`.
   *
   * @param p Parameters `[batch, parameterSize]`.
   * @param q Parameters `[batch, parameterSize]`.
   * @returns Nats `[batch]`.
   */
  klDivergence(p: tf.Tensor2D, q: tf.Tensor2D): tf.Tensor1D;
  /**
   * The most likely action.
   *
   * @param parameters Parameters `[batch, parameterSize]`.
   * @returns Actions `[batch, ...actionShape]`.
   */
  mode(parameters: tf.Tensor2D): tf.Tensor;
  /**
   * One action for each row. The same noise always gives the same actions.
   *
   * @param parameters Parameters `[batch, parameterSize]`.
   * @param noise Independent numbers `[batch, noise.size]` of `noise.kind`.
   * @returns Actions `[batch, ...actionShape]`.
   */
  sample(parameters: tf.Tensor2D, noise: tf.Tensor2D): tf.Tensor;
}
