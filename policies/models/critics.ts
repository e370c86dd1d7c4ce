import {
  descend,
  type Descent,
  type Optimizer,
  type OptimizerState,
  type Params,
} from "@bellman/compute";
import type { RandomSource } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";
import { addPrefix, pickPrefix } from "../networks/network.ts";

/** Options of {@link criticLoss}. */
export interface CriticLossOptions {
  /**
   * Importance weights of prioritized replay `[batch]`.
   *
   * @default 1 for each row
   */
  readonly weights?: tf.Tensor1D;
}

/**
 * Computes the loss of a critic, Q or V: `mean(w (Q(s, a) - y)^2) / 2`. No gradient
 * flows through the targets.
 *
 * Source: Haarnoja et al. 2018 (https://arxiv.org/abs/1801.01290), equations 5 and 7;
 * `td_loss` and `vf_loss` of haarnoja/sac.
 *
 * @param values Estimates `[batch]`.
 * @param targets Target values `[batch]`.
 * @param options Importance weights.
 * @returns A scalar.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { criticLoss } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const loss = criticLoss(tf.tensor1d([1, 2]), tf.tensor1d([1, 4]));
 * assertEquals(loss.arraySync(), 1);
 * ```
 */
export function criticLoss(
  values: tf.Tensor1D,
  targets: tf.Tensor1D,
  options: CriticLossOptions = {},
): tf.Scalar {
  const { weights } = options;
  return tf.tidy(() => {
    const square = tf.squaredDifference(values, targets);
    const weighted = weights === undefined ? square : tf.mul(weights, square);
    return tf.mul(tf.mean(weighted), 0.5);
  });
}

/**
 * Computes absolute TD errors, `mean_i |y - Q_i(s, a)|`, the priorities of prioritized
 * replay.
 *
 * @param values Estimates of each critic, `[batch]` each.
 * @param targets Target values `[batch]`.
 * @returns Errors `[batch]`, at least 0.
 */
function absoluteTdErrors(
  values: readonly tf.Tensor1D[],
  targets: tf.Tensor1D,
): tf.Tensor1D {
  return tf.tidy(() => {
    const errors = values.map((it) => tf.abs(tf.sub(targets, it)));
    return tf.mul(tf.addN(errors), 1 / values.length);
  });
}

/**
 * Computes target values of critics, `y = scale r + b + gamma (1 - d) V(s')`.
 *
 * Terminated rows do not bootstrap; truncated ones do.
 *
 * Source: Haarnoja et al. 2018 (https://arxiv.org/abs/1801.01290), equation 8; Fujimoto
 * et al. 2018 (https://arxiv.org/abs/1802.09477), algorithm 1.
 *
 * @param inputs Rewards, episode ends and next values.
 * @param options Discount and reward scale.
 * @returns Targets `[batch]`.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { criticTargets } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const targets = criticTargets({
 *   rewards: tf.tensor1d([1, 1]),
 *   terminated: tf.tensor1d([0, 1]),
 *   nextValues: tf.tensor1d([8, 8]),
 * }, { discount: 0.5 });
 * assertEquals(targets.arraySync(), [5, 1]);
 * ```
 */
export function criticTargets(
  inputs: {
    /** Rewards `r`; n-step replay: discounted sum of n rewards. */
    readonly rewards: tf.Tensor1D;
    /** Flags `d`: 1 where the episode terminated, 0 where it was truncated or goes on. */
    readonly terminated: tf.Tensor1D;
    /** Values `V(s')` of the next observations. */
    readonly nextValues: tf.Tensor1D;
    /**
     * Unscaled bonus, such as discounted entropies of n-step replay.
     *
     * @default 0
     */
    readonly bonus?: tf.Tensor1D;
  },
  options: {
    /** Discount factor `gamma`, or one for each row `[batch]` as `gamma^n` of n-step replay. */
    readonly discount: number | tf.Tensor;
    /**
     * Reward scale (`scale_reward`).
     *
     * @default 1
     */
    readonly rewardScale?: number | tf.Scalar;
  },
): tf.Tensor1D {
  const { rewards, terminated, nextValues, bonus } = inputs;
  const { discount, rewardScale = 1 } = options;
  return tf.tidy(() => {
    const goingOn = tf.mul(tf.sub(1, terminated), discount);
    const earned = tf.mul(rewards, rewardScale);
    const here = bonus === undefined ? earned : tf.add(earned, bonus);
    return tf.add(here, tf.mul(goingOn, nextValues));
  });
}

/** Estimates of each critic by name: `qf1`, `qf2` and so on. */
export type CriticEstimates<T extends tf.Tensor = tf.Tensor1D> = Record<
  string,
  T
>;

/**
 * Makes the parameters of several critics, under `qf1/`, `qf2/` and so on.
 *
 * @param qf Q-function of each critic.
 * @param random Random stream.
 * @param count Number of critics; two by default.
 * @returns New tensors.
 *
 * @example
 * ```ts
 * import { RandomStream } from "@bellman/compute";
 * import { discreteQFunction, initCritics } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * const qf = discreteQFunction({
 *   observationSpace: { type: "discrete", n: 5 },
 *   actionSpace: { type: "discrete", n: 3 },
 *   networkOptions: { hiddenSizes: [] },
 * });
 * const critics = initCritics(qf, new RandomStream(1));
 * assertEquals(Object.keys(critics), [
 *   "qf1/head/kernel",
 *   "qf1/head/bias",
 *   "qf2/head/kernel",
 *   "qf2/head/bias",
 * ]);
 * ```
 */
export function initCritics(
  qf: { init(random: RandomSource): Params },
  random: RandomSource,
  count = 2,
): Params {
  const each = Array.from(
    { length: count },
    (_, i) => addPrefix(qf.init(random), `qf${i + 1}`),
  );
  return Object.assign({}, ...each);
}

/**
 * Computes something for each critic from its parameters.
 *
 * @param critics Parameters, as {@link initCritics} makes them.
 * @param estimate Function of the parameters of one critic.
 * @returns Results by the critics' names.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { eachCritic } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const critics = { "qf1/w": tf.scalar(2), "qf2/w": tf.scalar(3) };
 * const { qf1, qf2 } = eachCritic(critics, ({ w }) => tf.square(w));
 * assertEquals([qf1.arraySync(), qf2.arraySync()], [4, 9]);
 * ```
 */
export function eachCritic<T extends tf.Tensor>(
  critics: Params,
  estimate: (params: Params) => T,
): CriticEstimates<T> {
  const names = new Set(Object.keys(critics).map((it) => it.split("/")[0]));
  return Object.fromEntries(
    [...names].map((name) => [name, estimate(pickPrefix(critics, name))]),
  );
}

/**
 * Computes the minimum over the critics, against overestimation (clipped double
 * Q-learning).
 *
 * Source: Fujimoto et al. 2018 (https://arxiv.org/abs/1802.09477), section 4.2.
 *
 * @param estimates Estimates of each critic, of equal shapes.
 * @returns A tensor of that shape.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { smallestEstimates } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const [qf1, qf2] = [tf.tensor1d([1, 4]), tf.tensor1d([2, 3])];
 * assertEquals(smallestEstimates({ qf1, qf2 }).arraySync(), [1, 3]);
 * ```
 */
export function smallestEstimates<T extends tf.Tensor>(
  estimates: CriticEstimates<T>,
): T {
  return Object.values(estimates).reduce((a, b) => tf.minimum(a, b) as T);
}

/** Training state of the critics. */
export interface CriticState {
  /** Parameters, as {@link initCritics} makes them. */
  readonly critics: Params;
  /** Optimizer state. */
  readonly criticSlots: OptimizerState;
}

/** Options of {@link criticStep}. */
export interface CriticStepOptions extends CriticLossOptions {
  /** Target values of all critics `[batch]`. */
  readonly targets: tf.Tensor1D;
  /** Optimizer of all critics. */
  readonly optimizer: Optimizer;
  /** Learning rate. */
  readonly learningRate: tf.Scalar;
  /**
   * Factor of the loss (half the mean squared error).
   *
   * @default 1
   */
  readonly scale?: number;
}

/** Result of {@link criticStep}. */
export interface CriticStep extends Descent<CriticEstimates> {
  /** Result of {@link criticDiagnostics}. */
  readonly stats: Record<string, tf.Scalar>;
  /** Mean absolute TD errors over the critics `[batch]`: new priorities. */
  readonly tdErrors: tf.Tensor1D;
}

/**
 * Takes one gradient step of all critics on the sum of their losses.
 *
 * @param state Parameters and optimizer state.
 * @param estimate Computes the estimates of all critics from their parameters.
 * @param options Target values, importance weights, optimizer.
 * @returns New parameters and optimizer state, loss and estimates before the step.
 *
 * @example
 * ```ts
 * import { sgd } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { criticStep, eachCritic } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const critics = { "qf1/w": tf.scalar(1), "qf2/w": tf.scalar(2) };
 * const { loss, tdErrors } = criticStep(
 *   { critics, criticSlots: sgd().init(critics) },
 *   (params) => eachCritic(params, ({ w }) => tf.mul(tf.ones([1]), w)),
 *   {
 *     targets: tf.tensor1d([4]),
 *     optimizer: sgd(),
 *     learningRate: tf.scalar(0.1),
 *   },
 * );
 * assertEquals(loss.arraySync(), (9 + 4) / 2);
 * assertEquals(tdErrors.arraySync(), [2.5]);
 * ```
 */
export function criticStep(
  { critics, criticSlots }: CriticState,
  estimate: (critics: Params) => CriticEstimates,
  { targets, weights, scale = 1, ...options }: CriticStepOptions,
): CriticStep {
  const step = descend(
    (params) => {
      const estimates = estimate(params);
      // Critics share no parameters, so the gradient of the sum is that of each loss.
      const loss = Object.values(estimates)
        .map((it) => criticLoss(it, targets, { weights }))
        .reduce((sum, it) => tf.add(sum, it));
      return {
        loss: scale === 1 ? loss : tf.mul<tf.Scalar>(loss, scale),
        aux: estimates,
      };
    },
    { params: critics, slots: criticSlots },
    options,
  );
  return {
    ...step,
    stats: criticDiagnostics(step.aux, targets),
    tdErrors: absoluteTdErrors(Object.values(step.aux), targets),
  };
}

/**
 * Computes mean and (population) standard deviation of a batch.
 *
 * @param values Numbers `[batch]`.
 * @returns Two scalars.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { meanAndDeviation } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const { mean, deviation } = meanAndDeviation(tf.tensor1d([1, 3]));
 * assertEquals([mean.arraySync(), deviation.arraySync()], [2, 1]);
 * ```
 */
export function meanAndDeviation(
  values: tf.Tensor1D,
): Record<"mean" | "deviation", tf.Scalar> {
  const mean = tf.mean(values) as tf.Scalar;
  const deviation = tf.tidy(() =>
    tf.sqrt(tf.mean(tf.squaredDifference(values, mean)))
  ) as tf.Scalar;
  return { mean, deviation };
}

/**
 * Computes statistics of critics over a batch: `q1_mean`, `q1_std`, `q1_bellman_error`
 * (the loss {@link criticLoss} without weights), the same of the others, and of two
 * critics `q_difference` (the mean of `|Q1 - Q2|`). Standard deviations are the
 * population's.
 *
 * Source: `log_diagnostics` of haarnoja/sac, which prints `qf1` for `qf2`: here it is
 * `qf2`.
 *
 * @param estimates Estimates of each critic `[batch]`.
 * @param targets Target values `[batch]`.
 * @returns Scalars by name.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { criticDiagnostics } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const diagnostics = criticDiagnostics({
 *   qf1: tf.tensor1d([1, 3]),
 *   qf2: tf.tensor1d([2, 2]),
 * }, tf.tensor1d([1, 1]));
 * assertEquals(diagnostics.q1_std.arraySync(), 1);
 * assertEquals(diagnostics.q_difference.arraySync(), 1);
 * assertEquals(diagnostics.q1_bellman_error.arraySync(), 1);
 * ```
 */
export function criticDiagnostics(
  estimates: CriticEstimates,
  targets: tf.Tensor1D,
): Record<string, tf.Scalar> {
  const stats: Record<string, tf.Scalar> = {};
  for (const [i, values] of Object.values(estimates).entries()) {
    const { mean, deviation } = meanAndDeviation(values);
    stats[`q${i + 1}_mean`] = mean;
    stats[`q${i + 1}_std`] = deviation;
    stats[`q${i + 1}_bellman_error`] = criticLoss(values, targets);
  }
  const { qf1, qf2 } = estimates;
  if (qf2 !== undefined) {
    stats.q_difference = tf.tidy(() => tf.mean(tf.abs(tf.sub(qf1, qf2))));
  }
  return stats;
}
