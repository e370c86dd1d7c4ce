import {
  type A2CBatch,
  type ActorCriticRates,
  type ActorCriticState,
  actorCriticSteps,
  type ActorCriticStepsOptions,
  evaluateBatch,
  stateValueLoss,
} from "@bellman/a2c";
import { mapParams, type Params, scan, tidy } from "@bellman/compute";
import type { ActorCritic } from "@bellman/policies";
import * as tf from "@tensorflow/tfjs";
import { clippedSurrogateLoss, clippedValueLoss } from "./loss.ts";

/**
 * Rollout batch, rows as in {@linkcode A2CBatch}; for recurrent models `state` is the
 * recurrent state before each sequence `[sequences, stateSize]`.
 */
export type PpoBatch = A2CBatch & {
  /** Log-probabilities of the actions under the rollout's policy `[batch]`. */
  readonly oldLogProb: tf.Tensor1D;
  /** Value estimates of the rollout `[batch]`; needed only if the value loss is clipped. */
  readonly oldValues?: tf.Tensor1D;
};

/** Hyperparameters of an update and the order of its rows, as tensors. */
export interface PpoInputs extends ActorCriticRates {
  /** Weight of the entropy. */
  readonly entropyCoefficient: tf.Scalar;
  /** Clip range of the ratios. */
  readonly clipRange: tf.Scalar;
  /**
   * Permutation of the rows for each epoch, or of the sequences, numbered `env *
   * sequences of a rollout + number of the sequence` `[epochs, rows]`, int32.
   */
  readonly order: tf.Tensor2D;
}

/** Statistics of an update, all scalars: means over the minibatches that stepped. */
export type PpoStatistics = Record<
  | "loss"
  | "policy_loss"
  | "value_loss"
  | "entropy"
  | "approx_kl"
  | "clip_fraction"
  | "grad_norm"
  | "epochs_done"
  | "stopped_early",
  tf.Scalar
>;

/** Update as a pure function from one training state to the next. */
export type PpoUpdate = (
  state: ActorCriticState,
  batch: PpoBatch,
  inputs: PpoInputs,
) => { state: ActorCriticState; stats: PpoStatistics };

/** Options of {@link ppoUpdate}. */
export interface PpoUpdateOptions extends ActorCriticStepsOptions {
  /** Number of minibatches of each epoch. */
  readonly minibatches: number;
  /**
   * Normalize each minibatch's advantages to mean 0 and standard deviation 1 (with `n -
   * 1`).
   *
   * @default true
   */
  readonly normalizeAdvantage?: boolean;
  /**
   * Clip range of the value loss, around the rollout's values.
   *
   * @default null: not clipped
   */
  readonly clipRangeValue?: number | null;
  /**
   * Form of the clipped value loss; see {@link clippedValueLoss}.
   *
   * @default "max"
   */
  readonly valueClip?: "max" | "clipped";
  /**
   * Target KL divergence: the update stops before a step at 1.5 times as much.
   *
   * @default null: all steps are taken
   */
  readonly targetKl?: number | null;
}

/**
 * Makes PPO's update of a model: all minibatches of all epochs over a rollout, as one
 * pure function of tensors, which can be traced and compiled.
 *
 * Minibatches of recurrent models are whole sequences, each from its recorded recurrent
 * state.
 *
 * Source: Schulman et al. 2017 (https://arxiv.org/abs/1707.06347), algorithm 1.
 *
 * @param model Policy and value function.
 * @param options Minibatches, optimizers, gradient clipping.
 * @returns The update.
 *
 * @example
 * ```ts
 * import { actorCriticSteps } from "@bellman/a2c";
 * import * as tf from "@bellman/compute/tf";
 * import { ppoUpdate } from "@bellman/ppo";
 * import { adam, RandomStream } from "@bellman/compute";
 * import { actorCritic } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const model = actorCritic({
 *   observationSpace: { type: "discrete", n: 2 },
 *   actionSpace: { type: "discrete", n: 2 },
 *   network: "mlp",
 * });
 * const options = { optimizer: adam(), minibatches: 1 };
 * const state = actorCriticSteps(options).init(model.init(new RandomStream(1)));
 * const { stats } = ppoUpdate(model, options)(state, {
 *   observations: model.observationTensor(new Int32Array([0, 1]), 2),
 *   actions: tf.tensor1d([0, 1], "int32"),
 *   oldLogProb: tf.fill([2], Math.log(0.5)),
 *   advantages: tf.tensor1d([1, -1]),
 *   returns: tf.tensor1d([1, 0]),
 * }, {
 *   learningRate: tf.scalar(3e-4),
 *   entropyCoefficient: tf.scalar(0.01),
 *   clipRange: tf.scalar(0.2),
 *   order: tf.tensor2d([[0, 1], [1, 0]], undefined, "int32"),
 * });
 * assertEquals(stats.epochs_done.arraySync(), 2);
 * ```
 */
export function ppoUpdate(
  model: ActorCritic,
  options: PpoUpdateOptions,
): PpoUpdate {
  const { minibatches, targetKl = null } = options;
  const { descend } = actorCriticSteps(options);
  return (state, batch, { order, ...numbers }) =>
    tidy(() => {
      const [epochs, units] = order.shape, steps = epochs * minibatches;
      const running = tf.scalar(1) as tf.Tensor;
      const { state: after, results } = scan({ ...state, running }, {
        length: steps,
        rows: { units: tf.reshape(order, [steps, units / minibatches]) },
        body({ running, ...state }, row) {
          const minibatch = unitsOf(batch, row.units as tf.Tensor1D, units);
          const updated = descend(
            state,
            lossesOf(model, options, minibatch, numbers),
            numbers,
          );
          const steps = targetKl === null ? running : tf.mul(
            running,
            tf.cast(
              tf.lessEqual(updated.stats.approx_kl, 1.5 * targetKl),
              "float32",
            ),
          );
          const kept = (next: Params, before: Params) =>
            targetKl === null ? next : mapParams(
              next,
              (it, path) => tf.where(tf.cast(steps, "bool"), it, before[path]),
            );
          return {
            state: {
              policy: kept(updated.state.policy, state.policy),
              optimizer: kept(updated.state.optimizer, state.optimizer),
              running: steps,
            },
            results: { ...updated.stats, steps } as Record<string, tf.Tensor>,
          };
        },
      });
      const { running: goesOn, ...next } = after;
      return { state: next, stats: statisticsOf(results, goesOn, minibatches) };
    });
}

/** Returns a function that gathers rows or sequences of a rollout. */
function unitsOf(
  { state, ...rows }: PpoBatch,
  taken: tf.Tensor1D,
  units: number,
): PpoBatch {
  const take = (tensor: tf.Tensor): tf.Tensor => {
    const [batch, ...shape] = tensor.shape, length = batch / units;
    if (length === 1) return tf.gather(tensor, taken);
    const sequences = tf.reshape(tensor, [units, length, ...shape]);
    return tf.reshape(tf.gather(sequences, taken), [-1, ...shape]);
  };
  return {
    ...mapParams(rows, take) as Omit<PpoBatch, "state">,
    ...(state && { state: tf.gather(state, taken) }),
  };
}

/** Makes the losses of a minibatch. */
function lossesOf(
  model: ActorCritic,
  options: PpoUpdateOptions,
  batch: PpoBatch,
  { entropyCoefficient, clipRange }: Omit<PpoInputs, "order">,
): Parameters<ReturnType<typeof actorCriticSteps>["descend"]>[1] {
  const { returns, oldLogProb } = batch;
  const { normalizeAdvantage = true, clipRangeValue = null } = options;
  const advantages = normalizeAdvantage
    ? normalized(batch.advantages)
    : batch.advantages;
  return (params) => {
    const { logProb, values, ...made } = evaluateBatch(model, params, batch);
    const entropy = tf.mean(made.entropy) as tf.Scalar;
    const { policyLoss, approxKl, clipFraction } = clippedSurrogateLoss(
      { logProb, oldLogProb, advantages },
      clipRange,
    );
    const oldValues = batch.oldValues!;
    const valueLoss = clipRangeValue === null
      ? stateValueLoss(values, returns)
      : clippedValueLoss({ values, oldValues, returns }, {
        clipRange: clipRangeValue,
        form: options.valueClip,
      });
    return {
      policy: tf.sub(policyLoss, tf.mul(entropy, entropyCoefficient)),
      value: valueLoss,
      stats: {
        policy_loss: policyLoss,
        value_loss: valueLoss,
        entropy,
        approx_kl: approxKl,
        clip_fraction: clipFraction,
      },
    };
  };
}

/** Normalizes to mean 0 and standard deviation 1 (with `n - 1`). */
function normalized(values: tf.Tensor1D): tf.Tensor1D {
  const { mean, variance } = tf.moments(values);
  const bessel = values.size / (values.size - 1);
  const deviation = tf.sqrt(tf.mul(variance, bessel));
  return tf.div(tf.sub(values, mean), tf.add(deviation, 1e-8));
}

/** Averages statistics over the minibatches that stepped. */
function statisticsOf(
  { steps, ...stats }: Record<string, tf.Tensor>,
  goesOn: tf.Tensor,
  minibatches: number,
): PpoStatistics {
  const count = tf.sum(steps), divisor = tf.maximum(count, 1);
  return {
    ...mapParams(
      stats,
      (it) => tf.div(tf.sum(tf.mul(it, steps)), divisor),
    ) as Omit<PpoStatistics, "epochs_done" | "stopped_early">,
    epochs_done: tf.div(count, minibatches),
    stopped_early: tf.sub(1, goesOn) as tf.Scalar,
  };
}
