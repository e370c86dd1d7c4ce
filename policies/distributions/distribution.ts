import type * as tf from "@tensorflow/tfjs";

/** Random numbers that one sample needs. */
export interface NoiseSpec {
  /** Uniform on [0, 1), or normal with mean 0 and variance 1. */
  readonly kind: "uniform" | "normal";
  /** Number of random numbers. */
  readonly size: number;
}

/** Form of the actions of a policy. */
export interface ActionForm {
  /** Number of parameters of one distribution. */
  readonly parameterSize: number;
  /** Shape of one action, `[]` for a scalar. */
  readonly actionShape: readonly number[];
  /** Type of the actions. */
  readonly actionDtype: "int32" | "float32";
  /**
   * Masking, for discrete, multi-discrete and multi-binary actions.
   *
   * @default none
   */
  readonly masking?: ActionMasking;
}

/**
 * Family of probability distributions over actions. Each row of a parameter tensor is
 * one distribution; all methods are pure functions, differentiable with respect to the
 * parameters, with noise as an argument.
 */
export interface Distribution extends ActionForm {
  /** Noise of one sample. */
  readonly noise: NoiseSpec;
  /**
   * Computes the log-probability (or log-density) of each action.
   *
   * @param parameters Parameters `[batch, parameterSize]`.
   * @param actions Actions `[batch, ...actionShape]`.
   * @returns Nats `[batch]`, summed over the parts of an action.
   */
  logProb(parameters: tf.Tensor, actions: tf.Tensor): tf.Tensor1D;
  /**
   * Computes the entropy (differential entropy for continuous actions).
   *
   * @param parameters Parameters `[batch, parameterSize]`.
   * @returns Nats `[batch]`.
   */
  entropy(parameters: tf.Tensor2D): tf.Tensor1D;
  /**
   * Computes the KL divergence of `q` from `p`: the mean of `log p - log q` under `p`.
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
   * Samples one action for each row. The same noise gives the same actions.
   *
   * @param parameters Parameters `[batch, parameterSize]`.
   * @param noise Independent numbers `[batch, noise.size]` of `noise.kind`.
   * @returns Actions `[batch, ...actionShape]`.
   */
  sample(parameters: tf.Tensor2D, noise: tf.Tensor2D): tf.Tensor;
}

/** Masking of invalid actions. */
export interface ActionMasking {
  /**
   * Size of one row's mask: one element for each choice of each part of an action, side
   * by side; for bits the choice of 0, then of 1.
   */
  readonly size: number;
  /** Number of choices of each part. */
  readonly parts: readonly number[];
  /**
   * Masks parameters so that forbidden actions have probability 0; pass the result to
   * the methods of the distribution.
   *
   * @param parameters Parameters `[batch, parameterSize]`.
   * @param masks 1 where a choice is allowed, else 0 `[batch, size]`.
   * @returns Masked parameters `[batch, parameterSize]`.
   */
  apply(parameters: tf.Tensor2D, masks: tf.Tensor): tf.Tensor2D;
}

/** Options of {@link ReparameterizedDistribution.sampleWithLogProb}. */
export interface SampleWithLogProbOptions {
  /**
   * Differentiate through the sample (reparameterization trick), into the action and
   * its log-probability. If false the sample is a constant: the gradient of `logProb`
   * is the score function, as likelihood-ratio estimators need, and the action has
   * none.
   *
   * @default true; false for mixtures, whose choice of a component has no gradient
   */
  readonly reparameterize?: boolean;
}

/** Samples with their log-probabilities. */
export interface ActionSample {
  /** Actions `[batch, ...actionShape]`. */
  readonly action: tf.Tensor;
  /** Log-probabilities `[batch]`. */
  readonly logProb: tf.Tensor1D;
  /** Pre-tanh values `[batch, size]`; the actions if there is no tanh. */
  readonly raw: tf.Tensor2D;
}

/**
 * Distribution over continuous actions that samples actions together with their
 * log-probabilities, from noise and pre-tanh values: precise even where the tanh rounds
 * to 1 in float32.
 */
export interface ReparameterizedDistribution extends Distribution {
  /**
   * Samples one action for each row with its log-probability. The same noise gives the
   * same actions.
   *
   * @param parameters Parameters `[batch, parameterSize]`.
   * @param noise Independent numbers `[batch, noise.size]` of `noise.kind`.
   * @param options Reparameterization.
   */
  sampleWithLogProb(
    parameters: tf.Tensor2D,
    noise: tf.Tensor2D,
    options?: SampleWithLogProbOptions,
  ): ActionSample;
  /**
   * Computes the log-probability of each action from pre-tanh values: precise even
   * where the action rounds to 1 or -1.
   *
   * @param parameters Parameters `[batch, parameterSize]`.
   * @param raw Pre-tanh values `[batch, size]`; the actions if there is no tanh.
   * @returns Nats `[batch]`.
   */
  logProbOfRaw(parameters: tf.Tensor2D, raw: tf.Tensor2D): tf.Tensor1D;
  /**
   * Computes half the mean square of the means plus half that of the log standard
   * deviations, which haarnoja/sac adds to the policy's loss with the factor `reg`.
   *
   * @param parameters Parameters `[batch, parameterSize]`.
   * @returns `[batch]`; 0 where the distribution has no such parameters.
   */
  regularization(parameters: tf.Tensor2D): tf.Tensor1D;
}
