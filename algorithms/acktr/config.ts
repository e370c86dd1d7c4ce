import type { A2CConfig, OnPolicyConfig } from "@bellman/a2c";
import { type ConfigSchema, defaultsOf } from "@bellman/agent";
import type { KfacForm } from "@bellman/kfac";
import schema from "./config.schema.json" with { type: "json" };

/**
 * Settings of ACKTR. The comments are the command line's `--help`; the tags are
 * the defaults, ranges and other names, for YAML files and `--set` as well.
 *
 * @defaults {"numSteps": 20, "gamma": 0.99, "gaeLambda": 0.95, "learningRate": 0.25, "normalizeAdvantage": true}
 */
export interface AcktrConfig
  extends OnPolicyConfig, Pick<A2CConfig, "valueCoefficient"> {
  /**
   * Maximum gradient norm of the cold updates; null does not clip. Natural gradient steps are bounded by klClip.
   *
   * @default 0.5
   * @exclusiveMinimum 0
   * @maximum 1e30
   * @alias max_grad_norm
   */
  maxGradNorm: number | null;
  /**
   * Initial learning rate of the value's steps, for separate objectives; null uses learningRate.
   *
   * @default null
   * @exclusiveMinimum 0
   * @maximum 1e30
   * @alias value_learning_rate
   */
  valueLearningRate: number | null;
  /**
   * Trust region: largest step size, measured by the Fisher matrix; null for no limit.
   *
   * @default 0.001
   * @exclusiveMinimum 0
   * @maximum 1e30
   * @alias kfac_clip, clip_kl, kl_clip, norm_constraint
   */
  klClip: number | null;
  /**
   * Trust region of the value function's steps, for separate objectives; null uses klClip.
   *
   * @default 0.01
   * @exclusiveMinimum 0
   * @maximum 1e30
   * @alias value_kl_clip, vf_kfac_clip
   */
  valueKlClip: number | null;
  /**
   * Bound of a step s by klClip: s'Fs (norm_constraint, as the original) or the KL divergence s'Fs / 2 (kl, as the paper).
   *
   * @default "norm_constraint"
   */
  klClipKind: "norm_constraint" | "kl";
  /**
   * Weight of the value function in the Fisher matrix: its values count as means of normal distributions with the standard deviation 1 / (2 valueFisherCoefficient).
   *
   * @default 1
   * @exclusiveMinimum 0
   * @maximum 1e15
   * @alias vf_fisher_coef
   */
  valueFisherCoefficient: number;
  /**
   * Actions whose likelihood defines the Fisher matrix: new samples of the policy (sampled), or those of the rollout (taken, as baselines).
   *
   * @default "sampled"
   */
  fisherActions: "sampled" | "taken";
  /**
   * Damping, added to the Fisher matrix.
   *
   * @default 0.01
   * @exclusiveMinimum 0
   * @maximum 1e30
   * @alias epsilon
   */
  damping: number;
  /**
   * Form of the inverse Fisher matrix: eigenbasis (damped at each step, as baselines), inverse (damped when factors are inverted, as tensorflow/kfac) or ekfac.
   *
   * @default "eigenbasis"
   */
  kfacForm: KfacForm;
  /**
   * Most eigenvectors of a layer's inputs; a layer with more inputs has the leading ones, and the mean of the other eigenvalues for the rest.
   *
   * @default 320
   * @minimum 1
   * @maximum 1000000000
   * @asType integer
   */
  largestBasis: number;
  /**
   * Momentum: fraction of the velocity that each step keeps.
   *
   * @default 0.5
   * @minimum 0
   * @maximum 0.999999
   */
  momentum: number;
  /**
   * Decay of the factors' moving averages per update.
   *
   * @default 0.99
   * @minimum 0
   * @maximum 0.999999
   * @alias stats_decay, cov_ema_decay
   */
  statisticsDecay: number;
  /**
   * Updates between two updates of the factors; until the first inversion, each one updates them.
   *
   * @default 20
   * @minimum 1
   * @maximum 1000000000
   * @asType integer
   * @alias cov_update_every
   */
  covUpdateEvery: number;
  /**
   * Updates between two inversions of the factors.
   *
   * @default 20
   * @minimum 1
   * @maximum 1000000000
   * @asType integer
   * @alias kfac_update, invert_every
   */
  invertEvery: number;
  /**
   * Precision in which factors are inverted; single takes half of the time for large ones.
   *
   * @default "double"
   * @alias inversion_precision
   */
  inversionPrecision: "double" | "single";
  /**
   * Largest number of observations for the factors of a convolution: each has a row for every position.
   *
   * @default 64
   * @minimum 2
   * @maximum 1000000000
   * @asType integer
   */
  convolutionExamples: number;
  /**
   * Number of initial updates by plain gradient descent with the same momentum (cold updates); it is also used until the first inversion.
   *
   * @default 10
   * @minimum 0
   * @maximum 1000000000
   * @asType integer
   * @alias cold_iter, num_cold_updates
   */
  coldUpdates: number;
  /**
   * Initial learning rate of the cold updates; null uses learningRate, as the original does.
   *
   * @default 0.01
   * @exclusiveMinimum 0
   * @maximum 1e30
   * @alias cold_lr
   */
  coldLearningRate: number | null;
  /**
   * Take one natural step on the weighted sum of the losses (shared), or one on each (separate; with a separate valueNetwork); null takes two where no layer is shared.
   *
   * @default null
   */
  objective: "shared" | "separate" | null;
}

/** JSON Schema of {@linkcode AcktrConfig}, made by `deno task schema`. */
export const acktrConfigSchema: ConfigSchema = schema;

/**
 * Default settings: those of the original `baselines/acktr`, except for the differences
 * in the README.
 */
export const defaultAcktrConfig: Readonly<AcktrConfig> = defaultsOf<
  AcktrConfig
>(acktrConfigSchema);
