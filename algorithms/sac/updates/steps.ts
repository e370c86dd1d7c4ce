import {
  type LossValue,
  type Optimizer,
  type OptimizerState,
  type Params,
  polyak,
  valueAndGradients,
} from "@bellman/compute";
import { nest, scope } from "@bellman/policies";
import type { RandomSource } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";
import { absoluteTdErrors, criticLoss, temperatureLoss } from "./losses.ts";
import type {
  SacDiagnostics,
  SacNumbers,
  SacState,
  SacUpdateResult,
} from "./model.ts";

/** Parameters after one step of an optimizer. */
export interface Descent<A extends Params> {
  params: Params;
  slots: OptimizerState;
  /** Loss before the step. */
  loss: tf.Scalar;
  aux: A;
}

/** Takes one optimizer step on a loss. */
export function descend<A extends Params>(
  loss: (params: Params) => LossValue<A>,
  { params, slots }: { params: Params; slots: OptimizerState },
  { optimizer, learningRate }: {
    optimizer: Optimizer;
    learningRate: tf.Scalar;
  },
): Descent<A> {
  const { gradients, ...value } = valueAndGradients(loss, params);
  const step = optimizer.apply(params, gradients, {
    state: slots,
    learningRate,
  });
  return { params: step.params, slots: step.state, ...value };
}

/** Estimates of both Q functions. */
export interface Estimates<T extends tf.Tensor = tf.Tensor1D> {
  qf1: T;
  qf2: T;
  [name: string]: T;
}

/** Initializes both Q functions. */
export function initCritics(
  { init }: { init(random: RandomSource): Params },
  random: RandomSource,
): Params {
  return { ...nest(init(random), "qf1"), ...nest(init(random), "qf2") };
}

/** Applies a function to the parameters of each Q function. */
export function ofBoth<T extends tf.Tensor>(
  critics: Params,
  estimate: (params: Params) => T,
): Estimates<T> {
  return {
    qf1: estimate(scope(critics, "qf1")),
    qf2: estimate(scope(critics, "qf2")),
  };
}

/** Takes the smaller estimate of each action, against overestimation. */
export function smaller<T extends tf.Tensor>({ qf1, qf2 }: Estimates<T>): T {
  return tf.minimum(qf1, qf2) as T;
}

/** Takes one step of both Q functions towards their targets. */
export function criticStep(
  { critics, criticSlots }: Pick<SacState, "critics" | "criticSlots">,
  estimate: (critics: Params) => Estimates,
  { targets, weights, ...options }: {
    readonly targets: tf.Tensor1D;
    /** Importance weights of prioritized replay. */
    readonly weights?: tf.Tensor1D;
    readonly optimizer: Optimizer;
    readonly learningRate: tf.Scalar;
  },
): Descent<Estimates> & { stats: SacDiagnostics; tdErrors: tf.Tensor1D } {
  const step = descend(
    (params) => {
      const estimates = estimate(params);
      // No parameter is in both losses, so each has its own gradient.
      const loss = tf.add(
        criticLoss(estimates.qf1, targets, { weights }),
        criticLoss(estimates.qf2, targets, { weights }),
      ) as tf.Scalar;
      return { loss, aux: estimates };
    },
    { params: critics, slots: criticSlots },
    options,
  );
  const { qf1, qf2 } = step.aux;
  return {
    ...step,
    stats: sacDiagnostics({ qf1, qf2, targets }),
    tdErrors: absoluteTdErrors([qf1, qf2], targets),
  };
}

/** Returns the temperature before the update: learned, or given. */
export function temperatureOf(
  { temperature }: SacState,
  { alpha }: SacNumbers,
): tf.Scalar {
  const { logAlpha } = temperature;
  if (logAlpha !== undefined) return tf.exp(logAlpha as tf.Scalar);
  if (alpha !== undefined) return tf.clone(alpha);
  throw new TypeError(
    "Cannot update without a temperature: as the state has none that is learned, inputs.alpha must be given",
  );
}

/** Steps of an update's networks, and the temperature that they were taken at. */
export interface NetworkSteps {
  readonly critics: ReturnType<typeof criticStep>;
  readonly actor: Descent<{ logProb: tf.Tensor1D }>;
  readonly alpha: tf.Scalar;
}

/**
 * Ends an update: the temperature takes its step where it is learned, and the target
 * networks move.
 */
export function afterSteps(
  state: SacState,
  { critics, actor, alpha }: NetworkSteps,
  options: TemperatureStepOptions,
): SacUpdateResult {
  const { logProb } = actor.aux, { tau } = options.inputs;
  const temperature = temperatureStep(state, logProb, options);
  return {
    state: {
      ...temperature.state,
      policy: actor.params,
      critics: critics.params,
      targets: polyak(state.targets, critics.params, { tau }),
      policySlots: actor.slots,
      criticSlots: critics.slots,
    },
    stats: {
      ...critics.stats,
      q_loss: critics.loss,
      policy_loss: actor.loss,
      temperature: alpha,
      entropy: tf.neg(tf.mean(logProb)) as tf.Scalar,
      ...temperature.stats,
    },
    results: { tdErrors: critics.tdErrors },
  };
}

/** Inputs of a step of the temperature. */
interface TemperatureStepOptions {
  readonly targetEntropy: number | tf.Scalar;
  readonly optimizer: Optimizer;
  readonly inputs: SacNumbers;
}

/** Takes one step of the temperature, where it is learned. */
function temperatureStep(
  { temperature, temperatureSlots }: SacState,
  logProb: tf.Tensor1D,
  { targetEntropy, optimizer, inputs }: TemperatureStepOptions,
): {
  state: Pick<SacState, "temperature" | "temperatureSlots">;
  stats: { temperature_loss?: tf.Scalar };
} {
  if (temperature.logAlpha === undefined) {
    return { state: { temperature: {}, temperatureSlots: {} }, stats: {} };
  }
  const { learningRate, temperatureLearningRate = learningRate } = inputs;
  const { params, slots, loss } = descend(
    ({ logAlpha }) => ({
      loss: temperatureLoss(logAlpha as tf.Scalar, logProb, { targetEntropy }),
    }),
    { params: temperature, slots: temperatureSlots },
    { optimizer, learningRate: temperatureLearningRate },
  );
  return {
    state: { temperature: params, temperatureSlots: slots },
    stats: { temperature_loss: loss },
  };
}

/** Computes mean and standard deviation of a batch, that of the population. */
export function meanAndDeviation(
  values: tf.Tensor1D,
): Record<"mean" | "deviation", tf.Scalar> {
  const mean = tf.mean(values) as tf.Scalar;
  const deviation = tf.tidy(() =>
    tf.sqrt(tf.mean(tf.squaredDifference(values, mean)))
  ) as tf.Scalar;
  return { mean, deviation };
}

/** Inputs of {@link sacDiagnostics}, each `[batch]`. */
export interface DiagnosticInputs {
  /** Estimates of the first Q function. */
  readonly qf1: tf.Tensor1D;
  /** Estimates of the second Q function. */
  readonly qf2: tf.Tensor1D;
  /** Targets of both. */
  readonly targets: tf.Tensor1D;
}

/**
 * Describes the Q functions over a batch: `q1_mean`, `q1_std`, `q2_mean`,
 * `q2_std`, `q_difference` (the mean of `|Q1 - Q2|`) and
 * `q1_bellman_error`, `q2_bellman_error` (the losses
 * `criticLoss` without weights). Deviations are the population's.
 *
 * Source: `log_diagnostics` of haarnoja/sac, which prints `qf1` for `qf2`: here it
 * is `qf2`.
 *
 * @param inputs Estimates and their targets.
 * @returns Scalars by name.
 *
 * @example
 * ```ts
 * import { sacDiagnostics } from "@bellman/sac";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const diagnostics = sacDiagnostics({
 *   qf1: tf.tensor1d([1, 3]),
 *   qf2: tf.tensor1d([2, 2]),
 *   targets: tf.tensor1d([1, 1]),
 * });
 * assertEquals(diagnostics.q1_std.arraySync(), 1);
 * assertEquals(diagnostics.q_difference.arraySync(), 1);
 * assertEquals(diagnostics.q1_bellman_error.arraySync(), 1);
 * ```
 */
export function sacDiagnostics(inputs: DiagnosticInputs): SacDiagnostics {
  const { qf1, qf2, targets } = inputs;
  const [first, second] = [meanAndDeviation(qf1), meanAndDeviation(qf2)];
  return {
    q1_mean: first.mean,
    q1_std: first.deviation,
    q2_mean: second.mean,
    q2_std: second.deviation,
    q_difference: tf.tidy(() => tf.mean(tf.abs(tf.sub(qf1, qf2)))),
    q1_bellman_error: criticLoss(qf1, targets),
    q2_bellman_error: criticLoss(qf2, targets),
  };
}
