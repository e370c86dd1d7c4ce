import {
  descend,
  type Optimizer,
  type OptimizerState,
  type Params,
  tidy,
} from "@bellman/compute";
import type { RandomSource } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";
import { addPrefix, pickPrefix, splitRunning } from "../networks/network.ts";
import { quantileLosses, smallestQuantiles } from "./quantiles.ts";

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
 * @returns Targets in the shape of the next values.
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
export function criticTargets<T extends tf.Tensor1D | tf.Tensor2D>(
  inputs: {
    /** Rewards `r`; n-step replay: discounted sum of n rewards. */
    readonly rewards: tf.Tensor1D;
    /** Flags `d`: 1 where the episode terminated, 0 where it was truncated or goes on. */
    readonly terminated: tf.Tensor1D;
    /** Values `V(s')` of the next observations `[batch]`, or samples `[batch, n]`. */
    readonly nextValues: T;
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
): T {
  const { rewards, terminated, nextValues, bonus } = inputs;
  const { discount, rewardScale = 1 } = options;
  return tf.tidy(() => {
    const goingOn = tf.mul(tf.sub(1, terminated), discount);
    const earned = tf.mul(rewards, rewardScale);
    const here = bonus === undefined ? earned : tf.add(earned, bonus);
    return nextValues.rank === 1
      ? tf.add(here, tf.mul(goingOn, nextValues))
      : tf.add(
        tf.expandDims(here, 1),
        tf.mul(tf.expandDims(goingOn, 1), nextValues),
      );
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
 * @param estimate Function of the parameters of one critic, and its index from 0.
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
export function eachCritic<T>(
  critics: Params,
  estimate: (params: Params, index: number) => T,
): Record<string, T> {
  const names = new Set(Object.keys(critics).map((it) => it.split("/")[0]));
  return Object.fromEntries(
    [...names].map((name, i) => [name, estimate(pickPrefix(critics, name), i)]),
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

/**
 * Joins what critics say of next actions, against overestimation: the minimum of values,
 * or of quantiles all but the largest.
 *
 * @param estimates Values `[batch]` or quantiles `[batch, K]` of each critic.
 * @param options Number of quantiles left out.
 * @returns Values `[batch]`, or samples `[batch, critics * (K - droppedQuantiles)]`.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { nextEstimates } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const quantiles = { qf1: tf.tensor2d([[3, 1]]), qf2: tf.tensor2d([[2, 9]]) };
 * const kept = nextEstimates(quantiles, { droppedQuantiles: 1 });
 * assertEquals(kept.arraySync(), [[1, 2]]);
 * ```
 */
export function nextEstimates(
  estimates: CriticPass["estimates"],
  { droppedQuantiles = 0 }: {
    /**
     * Largest quantiles that are left out, of each critic.
     *
     * @default 0
     */
    readonly droppedQuantiles?: number;
  } = {},
): tf.Tensor1D | tf.Tensor2D {
  const each = Object.values(estimates);
  return each[0].rank === 1
    ? smallestEstimates(estimates)
    : smallestQuantiles(each as tf.Tensor2D[], droppedQuantiles);
}

/**
 * Computes the mean over the critics.
 *
 * @param estimates Estimates of each critic, of equal shapes.
 * @returns A tensor of that shape.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { meanEstimates } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const [qf1, qf2] = [tf.tensor1d([1, 4]), tf.tensor1d([2, 3])];
 * assertEquals(meanEstimates({ qf1, qf2 }).arraySync(), [1.5, 3.5]);
 * ```
 */
export function meanEstimates<T extends tf.Tensor>(
  estimates: CriticEstimates<T>,
): T {
  const each = Object.values(estimates);
  return tf.tidy(() => tf.mul(tf.addN(each), 1 / each.length));
}

/**
 * Picks critics at random: those that the first numbers of a permutation name.
 *
 * Source: Chen et al. 2021 (https://arxiv.org/abs/2101.05982), algorithm 1, line 7.
 *
 * @param critics Parameters, as {@link initCritics} makes them.
 * @param permutation Permutation of the critics' indices `[1, critics]`.
 * @param count Number of critics to pick.
 * @returns Their parameters, as `qf1`, `qf2` and so on.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { pickCritics } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const critics = { "qf1/w": tf.scalar(2), "qf2/w": tf.scalar(3) };
 * const picked = pickCritics(critics, tf.tensor2d([[1, 0]], [1, 2], "int32"), 1);
 * assertEquals(Object.keys(picked), ["qf1/w"]);
 * assertEquals(picked["qf1/w"].arraySync(), 3);
 * ```
 */
export function pickCritics(
  critics: Params,
  permutation: tf.Tensor,
  count: number,
): Params {
  const each = Object.values(eachCritic(critics, (params) => params));
  return tidy(() => {
    const indices = tf.slice(tf.reshape(permutation, [-1]), [0], [count]);
    const names = Object.keys(each[0]);
    const picked: Params = {};
    for (const name of names) {
      const all = tf.stack(each.map((params) => params[name]));
      tf.unstack(tf.gather(all, tf.cast(indices, "int32"))).forEach((it, i) =>
        picked[`qf${i + 1}/${name}`] = it
      );
    }
    return picked;
  });
}

/** Training state of the critics. */
export interface CriticState {
  /** Parameters, as {@link initCritics} makes them. */
  readonly critics: Params;
  /** Optimizer state. */
  readonly criticSlots: OptimizerState;
}

/** Estimates of all critics, and what they are to become. */
export interface CriticPass {
  /** Values `[batch]`, or quantiles `[batch, K]`, of each critic. */
  readonly estimates: CriticEstimates<tf.Tensor1D | tf.Tensor2D>;
  /** Target values `[batch]`, or samples `[batch, M]` for quantiles; constants. */
  readonly targets: tf.Tensor1D | tf.Tensor2D;
  /**
   * New running statistics of all critics by path.
   *
   * @default those of the state
   */
  readonly running?: Params;
}

/** Options of {@link criticStep}. */
export interface CriticStepOptions extends CriticLossOptions {
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
export interface CriticStep {
  /** New parameters, with running statistics. */
  readonly params: Params;
  /** New optimizer state. */
  readonly slots: OptimizerState;
  /** Loss before the step. */
  readonly loss: tf.Scalar;
  /** Result of {@link criticDiagnostics}. */
  readonly stats: Record<string, tf.Scalar>;
  /** Mean absolute TD errors over the critics `[batch]`: new priorities. */
  readonly tdErrors: tf.Tensor1D;
}

/**
 * Takes one gradient step of all critics: on the sum of their losses, or for quantiles
 * the mean of {@link quantileLosses} over critics and quantiles.
 *
 * @param state Parameters and optimizer state.
 * @param estimate Computes the estimates of all critics from their parameters.
 * @param options Importance weights, optimizer.
 * @returns New parameters and optimizer state, loss and statistics before the step.
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
 *   (params) => ({
 *     estimates: eachCritic(params, ({ w }) => tf.mul(tf.ones([1]), w)),
 *     targets: tf.tensor1d([4]),
 *   }),
 *   { optimizer: sgd(), learningRate: tf.scalar(0.1) },
 * );
 * assertEquals(loss.arraySync(), (9 + 4) / 2);
 * assertEquals(tdErrors.arraySync(), [2.5]);
 * ```
 */
export function criticStep(
  { critics, criticSlots }: CriticState,
  estimate: (critics: Params) => CriticPass,
  { weights, scale = 1, ...options }: CriticStepOptions,
): CriticStep {
  const { weights: learned, running } = splitRunning(critics);
  const { aux, ...step } = descend(
    (params) => {
      const pass = estimate({ ...params, ...running });
      const loss = criticsLoss(pass, { weights });
      return {
        loss: scale === 1 ? loss : tf.mul<tf.Scalar>(loss, scale),
        aux: {
          ...addPrefix(pass.estimates, "estimates"),
          ...addPrefix(pass.running ?? {}, "running"),
          targets: pass.targets,
        },
      };
    },
    { params: learned, slots: criticSlots },
    options,
  );
  const estimates = pickPrefix(aux, "estimates") as CriticPass["estimates"];
  const values = valueEstimates(estimates);
  const targets = meanOfRows(aux.targets);
  return {
    params: { ...step.params, ...running, ...pickPrefix(aux, "running") },
    slots: step.slots,
    loss: step.loss,
    stats: criticDiagnostics(values, targets),
    tdErrors: absoluteTdErrors(Object.values(values), targets),
  };
}

/** Computes the loss of all critics. They share no parameters, so each has its gradient. */
function criticsLoss(
  { estimates, targets }: CriticPass,
  { weights }: CriticLossOptions,
): tf.Scalar {
  const each = Object.values(estimates);
  const losses = each.map((it) => {
    if (it.rank === 1) {
      return criticLoss(it as tf.Tensor1D, targets as tf.Tensor1D, { weights });
    }
    const losses = quantileLosses(it as tf.Tensor2D, targets as tf.Tensor2D);
    const weighted = weights === undefined ? losses : tf.mul(losses, weights);
    return tf.mul<tf.Scalar>(
      tf.mean(weighted),
      1 / (each.length * it.shape[1]!),
    );
  });
  return losses.reduce((sum, it) => tf.add(sum, it));
}

/** Returns values as they are, and of quantiles the means. */
function meanOfRows(values: tf.Tensor): tf.Tensor1D {
  return (values.rank === 1 ? values : tf.mean(values, 1)) as tf.Tensor1D;
}

/**
 * Computes the value that each critic estimates: that of quantiles is their mean.
 *
 * @param estimates Values `[batch]` or quantiles `[batch, K]` of each critic.
 * @returns Values `[batch]` of each critic.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { valueEstimates } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const { qf1 } = valueEstimates({ qf1: tf.tensor2d([[1, 3]]) });
 * assertEquals(qf1.arraySync(), [2]);
 * ```
 */
export function valueEstimates(
  estimates: CriticPass["estimates"],
): CriticEstimates {
  return Object.fromEntries(
    Object.entries(estimates).map(([name, it]) => [name, meanOfRows(it)]),
  );
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
