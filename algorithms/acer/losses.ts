import { catEntropySoftmax } from "@bellman/policies";
import * as tf from "@tensorflow/tfjs";

/** Term that keeps divisions and logarithms finite: `eps` of baselines/acer/acer.py. */
const EPSILON = 1e-6;
/** Term that keeps the explained variance of constant targets finite. */
const SMALLEST_VARIANCE = 1e-12;

/**
 * Rows of segments, env-major: observations with the actions taken there. Rows without
 * an action (after the last step, and after a truncated step) only provide the value
 * that the row before bootstraps from, and are not learned from.
 */
export interface SegmentRows {
  /** Rewards `[rows]`. */
  readonly rewards: tf.Tensor1D;
  /** 1 where the episode terminated `[rows]`. */
  readonly terminated: tf.Tensor1D;
  /** 1 where an action was taken, else 0 `[rows]`. */
  readonly taken: tf.Tensor1D;
  /**
   * Importance weights of prioritized replay, one for each segment `[numEnvs]`.
   *
   * @default 1 for each
   */
  readonly weights?: tf.Tensor1D;
}

/** Rows of segments with discrete actions. */
export interface AcerRows extends SegmentRows {
  /** Actions, counted from 0 `[rows]`. */
  readonly actions: tf.Tensor1D;
  /** Action probabilities of the behaviour policy, `mu` `[rows, n]`. */
  readonly mu: tf.Tensor2D;
}

/** Network outputs, each `[rows, n]`. */
export interface AcerOutputs {
  /** Action probabilities of the policy, `f`. */
  readonly f: tf.Tensor2D;
  /** Q-values of all actions. */
  readonly q: tf.Tensor2D;
}

/** Inputs of {@link retraceTargets}, each `[rows]`. */
export interface RetraceInputs extends SegmentRows {
  /** Q-values of the actions taken. */
  readonly qTaken: tf.Tensor1D;
  /** State values. */
  readonly values: tf.Tensor1D;
  /**
   * Importance ratios: probability of the action under the policy divided by that under
   * the behaviour policy.
   */
  readonly ratios: tf.Tensor1D;
}

/**
 * Computes Retrace targets of Q-values as tensors: `Qret_t = r_t + gamma (min(1,
 * rho_{t+1}) (Qret_{t+1} - Q_{t+1}) + V_{t+1})` without the second term after a
 * termination; the bracket is only `V_{t+1}` if the next row has no action. The errors
 * `Qret - Q` are a linear recurrence, which recursive doubling solves in `log2(steps)`
 * rounds on all rows at once.
 *
 * Source: Wang et al. 2017 (https://arxiv.org/abs/1611.01224), equation 5; `q_retrace`
 * of baselines/acer/acer.py.
 *
 * @param inputs Rewards, episode ends, values and ratios.
 * @param options Number of environments and discount.
 * @returns Targets `[rows]`; meaningless in rows without an action.
 *
 * @example
 * ```ts
 * import { retraceTargets } from "@bellman/acer";
 * import * as tf from "@bellman/compute/tf";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const targets = retraceTargets({
 *   rewards: tf.tensor1d([1, 1, 0]),
 *   terminated: tf.tensor1d([0, 0, 0]),
 *   taken: tf.tensor1d([1, 1, 0]),
 *   qTaken: tf.tensor1d([3, 3, 0]),
 *   values: tf.tensor1d([2, 2, 4]),
 *   ratios: tf.tensor1d([0.5, 0.5, 0]),
 * }, { numEnvs: 1, gamma: 0.5 });
 * // The second is 1 + 0.5 * 4; the first 1 + 0.5 * (0.5 * (3 - 3) + 2).
 * assertEquals([...targets.dataSync()].slice(0, 2), [2, 3]);
 * ```
 */
export function retraceTargets(
  inputs: RetraceInputs,
  { numEnvs, gamma }: { readonly numEnvs: number; readonly gamma: number },
): tf.Tensor1D {
  return tf.tidy(() => {
    const size = inputs.rewards.shape[0] / numEnvs;
    const rows = (x: tf.Tensor) => tf.reshape(x, [numEnvs, size]);
    /** Shifts rows by `by` steps; 0 past the end. */
    const later = (x: tf.Tensor, by: number) =>
      tf.pad(tf.slice(x, [0, by], [numEnvs, size - by]), [[0, 0], [0, by]]);
    const [rewards, q, values] = [inputs.rewards, inputs.qTaken, inputs.values]
      .map(rows);
    const discounts = rows(tf.mul(tf.sub(1, inputs.terminated), gamma));
    const traces = rows(tf.mul(tf.minimum(1, inputs.ratios), inputs.taken));
    const next = tf.mul(discounts, later(values, 1));
    let errors = tf.sub(tf.add(rewards, next), q);
    let factors = tf.mul(discounts, later(traces, 1));
    for (let by = 1; by < size; by *= 2) {
      errors = tf.add(errors, tf.mul(factors, later(errors, by)));
      factors = tf.mul(factors, later(factors, by));
    }
    return tf.reshape(tf.add(q, errors), [-1]);
  });
}

/** Options of {@link acerLoss}. */
export interface AcerLossOptions {
  /** Number of environments. */
  readonly numEnvs: number;
  /**
   * Discount factor.
   *
   * @default 0.99
   */
  readonly gamma?: number;
  /**
   * Clip of the importance weights, `c`.
   *
   * @default 10
   */
  readonly importanceClip?: number;
  /**
   * Correct the bias of truncated importance weights by an expectation under the
   * policy.
   *
   * @default true
   */
  readonly biasCorrection?: boolean;
  /**
   * Weight of the Q-function's loss, `q_coef`.
   *
   * @default 0.5
   */
  readonly qCoefficient?: number;
  /**
   * Weight of the entropy, `ent_coef`.
   *
   * @default 0.01
   */
  readonly entropyCoefficient?: number;
}

/** Losses of ACER, all scalars. */
export type AcerLosses = Record<
  | "loss"
  | "q_loss"
  | "entropy"
  | "policy_loss"
  | "truncated_loss"
  | "bias_correction_loss"
  | "explained_variance",
  tf.Scalar
>;

/** Losses, and the policy gradient. */
export interface AcerLoss {
  /** Losses over the rows with an action. */
  readonly losses: AcerLosses;
  /** Retrace targets of the Q-values `[rows]`, `qret`. */
  readonly targets: tf.Tensor1D;
  /** Errors of the Q-values, `qret - q` `[rows]`. */
  readonly errors: tf.Tensor1D;
  /**
   * Gradient of each row's gain `-(policy_loss - ent_coef entropy)` with respect to
   * `f`, `g` `[rows, n]`; 0 in rows without an action.
   */
  readonly gradient: tf.Tensor2D;
}

/**
 * Computes the losses of ACER for discrete actions, and the policy gradient with
 * respect to the probabilities, in closed form:
 *
 * - `truncated_loss = -mean(log f(a) min(c, rho(a)) (Qret - V))`
 * - `bias_correction_loss = -mean(sum_a f(a) max(0, 1 - c / rho(a)) log f(a) (Q(a) -
 *   V))`
 * - `q_loss = mean((Qret - Q(a))^2) / 2`
 * - `loss = truncated_loss + bias_correction_loss + q_coef q_loss - ent_coef entropy`
 *
 * with `rho = f / mu` and `V = sum_a f(a) Q(a)`. No gradient flows through the factors
 * of the logarithms.
 *
 * Source: Wang et al. 2017 (https://arxiv.org/abs/1611.01224), equation 9; `Model` of
 * baselines/acer/acer.py.
 *
 * @param outputs Action probabilities and Q-values.
 * @param rows Actions, rewards and episode ends.
 * @param options Loss weights and limits.
 * @returns Losses, targets and gradient.
 *
 * @example
 * ```ts
 * import { acerLoss } from "@bellman/acer";
 * import * as tf from "@bellman/compute/tf";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const f = tf.tensor2d([[0.5, 0.5], [0.5, 0.5]]);
 * const { losses } = acerLoss({ f, q: tf.tensor2d([[0, 1], [0, 0]]) }, {
 *   actions: tf.tensor1d([1, 0], "int32"),
 *   rewards: tf.tensor1d([3, 0]),
 *   terminated: tf.tensor1d([1, 0]),
 *   taken: tf.tensor1d([1, 0]),
 *   mu: f,
 * }, { numEnvs: 1 });
 * assertAlmostEquals(losses.q_loss.arraySync(), (3 - 1) ** 2 / 2, 1e-5);
 * ```
 */
export function acerLoss(
  { f, q }: AcerOutputs,
  rows: AcerRows,
  options: AcerLossOptions,
): AcerLoss {
  const { numEnvs, gamma = 0.99, importanceClip: c = 10 } = options;
  const { entropyCoefficient = 0.01 } = options;
  const { taken, mu } = rows;
  const chosen = oneHot(rows.actions, f.shape[1]);
  const valueOf = (x: tf.Tensor) => tf.sum<tf.Tensor1D>(tf.mul(x, chosen), 1);
  const mean = weightedMean(rows);
  const rho = tf.div(f, tf.add(mu, EPSILON));
  const ratios = valueOf(rho), qTaken = valueOf(q);
  const values = tf.sum<tf.Tensor1D>(tf.mul(f, q), 1);
  const trace = { ...rows, qTaken, values, ratios };
  const targets = retraceTargets(trace, { numEnvs, gamma });

  // Factors of log f: of the action taken, and of all actions.
  const advantages = tf.sub(targets, values);
  const factors = tf.mul(advantages, tf.minimum(c, ratios));
  const left = tf.relu(tf.sub(1, tf.div(c, tf.add(rho, EPSILON))));
  const weights = tf.mul(left, f);
  const corrections = options.biasCorrection === false
    ? tf.zerosLike(f)
    : tf.mul(tf.sub(q, tf.expandDims(values, 1)), weights);

  const raised = tf.add(f, EPSILON);
  const logF = tf.log(raised);
  const errors = tf.sub<tf.Tensor1D>(targets, qTaken);
  const losses = lossesOf({
    truncated_loss: tf.neg(mean(tf.mul(valueOf(logF), factors))),
    bias_correction_loss: tf.neg(mean(tf.sum(tf.mul(logF, corrections), 1))),
    q_loss: tf.mul(mean(tf.square(errors)), 0.5),
    entropy: mean(catEntropySoftmax(f)),
    explained_variance: explainedVarianceOf(targets, errors, mean),
  }, options);

  const ofGains = tf.add(
    tf.mul(chosen, tf.expandDims(factors, 1)),
    corrections,
  );
  const ofEntropy = tf.neg(tf.add(logF, tf.div(f, raised)));
  const gradient = tf.mul<tf.Tensor2D>(
    tf.add(tf.div(ofGains, raised), tf.mul(ofEntropy, entropyCoefficient)),
    tf.expandDims(taken, 1),
  );
  return { losses, targets, errors, gradient };
}

/** Adds the weighted losses. */
export function lossesOf(
  parts: Omit<AcerLosses, "loss" | "policy_loss">,
  { qCoefficient = 0.5, entropyCoefficient = 0.01 }: AcerLossOptions,
): AcerLosses {
  const { truncated_loss, bias_correction_loss, q_loss, entropy } = parts;
  const policy_loss = tf.add<tf.Scalar>(truncated_loss, bias_correction_loss);
  const loss = tf.sub<tf.Scalar>(
    tf.add(policy_loss, tf.mul(q_loss, qCoefficient)),
    tf.mul(entropy, entropyCoefficient),
  );
  return { loss, policy_loss, ...parts };
}

/** Statistics of the trust region, all scalars. */
export type TrustRegionStatistics = Record<
  | "kl_gradient_norm"
  | "gain_gradient_norm"
  | "kl_gain_product"
  | "trust_region_adjustment"
  | "projected_gradient_norm",
  tf.Scalar
>;

/**
 * Projects the gradient of each row's gain into the trust region, so that the KL
 * divergence from the average policy does not grow by more than `delta` along it:
 * `z = g - max(0, (k g - delta) / |k|^2) k`
 * where `k` is the gradient of `KL(f_pol, f)` with respect to the same statistics
 * ({@link divergenceGradient} for probabilities).
 *
 * Source: Wang et al. 2017 (https://arxiv.org/abs/1611.01224), equation 12.
 *
 * @param gradient Gradient of the gains, `g` `[rows, n]`.
 * @param k Gradient of the KL divergence `[rows, n]`.
 * @param options Limit, and rows that count for the statistics.
 * @returns The projected gradient, and statistics.
 *
 * @example
 * ```ts
 * import { trustRegion } from "@bellman/acer";
 * import * as tf from "@bellman/compute/tf";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const { gradient } = trustRegion(
 *   tf.tensor2d([[-4, 0]]),
 *   tf.tensor2d([[-1, -1]]),
 *   { delta: 1, taken: tf.tensor1d([1]) },
 * );
 * // k g = 4 is 3 too much, which a step of 3 / 2 along k takes.
 * const [first, second] = gradient.dataSync();
 * assertAlmostEquals(first, -2.5, 1e-4);
 * assertAlmostEquals(second, 1.5, 1e-4);
 * ```
 */
export function trustRegion(
  gradient: tf.Tensor2D,
  k: tf.Tensor2D,
  { delta, taken }: { readonly delta: number; readonly taken: tf.Tensor1D },
): { gradient: tf.Tensor2D; statistics: TrustRegionStatistics } {
  const mean = meanOver(taken);
  const norm = (x: tf.Tensor) => mean(tf.sqrt(tf.sum(tf.square(x), 1)));
  const dot = tf.sum(tf.mul(k, gradient), 1);
  const square = tf.add(tf.sum(tf.square(k), 1), EPSILON);
  const excess = tf.relu(tf.div(tf.sub(dot, delta), square));
  const projected = tf.sub<tf.Tensor2D>(
    gradient,
    tf.mul(tf.expandDims(excess, 1), k),
  );
  const statistics = {
    kl_gradient_norm: norm(k),
    gain_gradient_norm: norm(gradient),
    kl_gain_product: mean(tf.abs(dot)),
    trust_region_adjustment: mean(tf.abs(excess)),
    projected_gradient_norm: norm(projected),
  };
  return {
    gradient: tf.mul(projected, tf.expandDims(taken, 1)),
    statistics,
  };
}

/**
 * Computes the gradient of `KL(f_pol, f)` with respect to the probabilities `f`:
 * `-f_pol / f`.
 *
 * @param f Action probabilities of the policy `[rows, n]`.
 * @param fAverage Action probabilities of the average policy `[rows, n]`.
 * @returns `k` `[rows, n]`.
 *
 * @example
 * ```ts
 * import { divergenceGradient } from "@bellman/acer";
 * import * as tf from "@bellman/compute/tf";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const k = divergenceGradient(tf.tensor2d([[0.5]]), tf.tensor2d([[1]]));
 * assertAlmostEquals(k.dataSync()[0], -2, 1e-5);
 * ```
 */
export function divergenceGradient(
  f: tf.Tensor2D,
  fAverage: tf.Tensor2D,
): tf.Tensor2D {
  return tf.tidy(() => tf.neg(tf.div(fAverage, tf.add(f, EPSILON))));
}

/** One-hot encodes the action of each row `[rows, n]`. */
export function oneHot(actions: tf.Tensor1D, n: number): tf.Tensor2D {
  const choices = tf.range(0, n, 1, "int32");
  return tf.cast(tf.equal(tf.expandDims(actions, 1), choices), "float32");
}

/** Counts the rows with an action, at least 1. */
export function countOf(taken: tf.Tensor1D): tf.Scalar {
  return tf.maximum(1, tf.sum(taken)) as tf.Scalar;
}

type Mean = (x: tf.Tensor) => tf.Scalar;

/** Makes the mean over the rows with an action. */
function meanOver(taken: tf.Tensor1D, shares: tf.Tensor = taken): Mean {
  const count = countOf(taken);
  return (x) => tf.div(tf.sum(tf.mul(x, shares)), count);
}

/** Makes the mean over the rows with an action, weighted by their segment. */
export function weightedMean(rows: SegmentRows): Mean {
  return meanOver(rows.taken, sharesOf(rows));
}

/** Returns the weight of each row: that of its segment, 0 without an action `[rows]`. */
export function sharesOf({ taken, weights }: SegmentRows): tf.Tensor {
  if (weights === undefined) return taken;
  const perSegment = tf.reshape(taken, [weights.shape[0], -1]);
  return tf.reshape(tf.mul(perSegment, tf.expandDims(weights, 1)), [-1]);
}

/** Computes the mean absolute error of each segment `[numEnvs]`. */
export function segmentErrors(
  errors: tf.Tensor1D,
  { taken, weights }: SegmentRows,
): tf.Tensor1D {
  const sums = [tf.mul(tf.abs(errors), taken), taken].map((it) =>
    tf.sum(tf.reshape(it, [weights!.shape[0], -1]), 1)
  );
  return tf.div(sums[0], tf.maximum(1, sums[1]));
}

/** Computes the explained variance of the targets. */
export function explainedVarianceOf(
  targets: tf.Tensor,
  errors: tf.Tensor,
  mean: Mean,
): tf.Scalar {
  const [left, total] = [errors, targets].map((x) =>
    mean(tf.square(tf.sub(x, mean(x))))
  );
  return tf.sub(1, tf.div(left, tf.maximum(total, SMALLEST_VARIANCE)));
}
