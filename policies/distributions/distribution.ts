import type * as tf from "@tensorflow/tfjs";

/** Random numbers that one row needs for one sample. */
export interface NoiseSpec {
  /** `uniform` is on [0, 1), `normal` has mean 0 and variance 1. */
  readonly kind: "uniform" | "normal";
  /** Number of them. */
  readonly size: number;
}

/** Form of the actions of a policy. */
export interface ActionForm {
  /** Numbers that make one distribution. */
  readonly parameterSize: number;
  /** Shape of one action, `[]` for a single number. */
  readonly actionShape: readonly number[];
  /** Type of the actions. */
  readonly actionDtype: "int32" | "float32";
  /**
   * Masking of actions, which discrete, multi-discrete and multi-binary ones have.
   *
   * @default none
   */
  readonly masking?: ActionMasking;
}

/**
 * A family of probability distributions over actions. The distributions
 * themselves are the rows of a tensor of parameters; all methods are pure, can
 * be differentiated with respect to those and take randomness as an argument.
 */
export interface Distribution extends ActionForm {
  /** Random numbers that {@link sample} needs for one row. */
  readonly noise: NoiseSpec;
  /**
   * Computes the logarithm of the probability, or of its density, of each
   * action.
   *
   * @param parameters Parameters `[batch, parameterSize]`.
   * @param actions Actions `[batch, ...actionShape]`.
   * @returns Nats `[batch]`, summed over the parts of an action.
   */
  logProb(parameters: tf.Tensor2D, actions: tf.Tensor): tf.Tensor1D;
  /**
   * Computes the exact entropy (differential for continuous actions).
   *
   * @param parameters Parameters `[batch, parameterSize]`.
   * @returns Nats `[batch]`.
   */
  entropy(parameters: tf.Tensor2D): tf.Tensor1D;
  /**
   * Computes the Kullback-Leibler divergence of `q` from `p`: the mean of
   * `log p - log q` under `p`.
   *
   * @param p Parameters `[batch, parameterSize]`.
   * @param q Parameters `[batch, parameterSize]`.
   * @returns Nats `[batch]`.
   */
  klDivergence(p: tf.Tensor2D, q: tf.Tensor2D): tf.Tensor1D;
  /**
   * Returns the most likely action.
   *
   * @param parameters Parameters `[batch, parameterSize]`.
   * @returns Actions `[batch, ...actionShape]`.
   */
  mode(parameters: tf.Tensor2D): tf.Tensor;
  /**
   * Draws one action for each row. The same noise always gives the same
   * actions.
   *
   * @param parameters Parameters `[batch, parameterSize]`.
   * @param noise Independent numbers `[batch, noise.size]` of `noise.kind`.
   * @returns Actions `[batch, ...actionShape]`.
   */
  sample(parameters: tf.Tensor2D, noise: tf.Tensor2D): tf.Tensor;
}

/** Distributions over the actions that a mask allows. */
export interface ActionMasking {
  /**
   * Numbers of the mask of one row: one for each choice of each part of an action, side
   * by side; for bits that of 0, then that of 1.
   */
  readonly size: number;
  /** Numbers of choices of each part. */
  readonly parts: readonly number[];
  /**
   * Changes parameters so that actions that are not allowed have no probability; all
   * methods of the distribution take the result.
   *
   * @param parameters Parameters `[batch, parameterSize]`.
   * @param masks 1 where a choice is allowed, 0 elsewhere `[batch, size]`.
   * @returns Parameters `[batch, parameterSize]`.
   */
  apply(parameters: tf.Tensor2D, masks: tf.Tensor): tf.Tensor2D;
}

/** Options of {@link ReparameterizedDistribution.sampleWithLogProb}. */
export interface SampleWithLogProbOptions {
  /**
   * True where the sample is a function of the parameters, so that gradients
   * flow through it into the action and into its log-probability. Otherwise it
   * is a constant: the gradient of `logProb` is the score, which
   * likelihood-ratio estimators take, and the action has none.
   *
   * @default true, but false for mixtures, whose choice of a component has no
   * gradient
   */
  readonly reparameterize?: boolean;
}

/** Actions with their log-probabilities. */
export interface ActionSample {
  /** Actions `[batch, ...actionShape]`. */
  readonly action: tf.Tensor;
  /** Logarithms of their densities, in nats `[batch]`. */
  readonly logProb: tf.Tensor1D;
  /**
   * The numbers before the tanh `[batch, size]`; the actions if there is none.
   */
  readonly raw: tf.Tensor2D;
}

/**
 * A distribution over continuous actions whose samples come with their
 * log-probabilities, computed together: from the noise and from the numbers
 * before the tanh, so that nothing is lost where the tanh is 1 in float32.
 */
export interface ReparameterizedDistribution extends Distribution {
  /**
   * Draws one action for each row with its log-probability. The same noise
   * always gives the same actions.
   *
   * @param parameters Parameters `[batch, parameterSize]`.
   * @param noise Independent numbers `[batch, noise.size]` of `noise.kind`.
   * @param options Path of the gradients.
   */
  sampleWithLogProb(
    parameters: tf.Tensor2D,
    noise: tf.Tensor2D,
    options?: SampleWithLogProbOptions,
  ): ActionSample;
  /**
   * Computes the logarithm of the density of each action, from the numbers
   * before the tanh: exact where the action itself is rounded to 1 or -1.
   *
   * @param parameters Parameters `[batch, parameterSize]`.
   * @param raw Numbers before the tanh `[batch, size]`; the actions if there
   * is none.
   * @returns Nats `[batch]`.
   */
  logProbOfRaw(parameters: tf.Tensor2D, raw: tf.Tensor2D): tf.Tensor1D;
  /**
   * Computes half the mean square of the means plus half that of the logarithms
   * of the deviations, which haarnoja/sac adds to the policy's loss, times its
   * `reg`.
   *
   * @param parameters Parameters `[batch, parameterSize]`.
   * @returns `[batch]`; 0 where the distribution has no such parameters.
   */
  regularization(parameters: tf.Tensor2D): tf.Tensor1D;
}
