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
 * One rollout as the update takes it, rows as in {@linkcode A2CBatch}; of recurrent
 * models `state` is that before each sequence `[sequences, stateSize]`.
 */
export type PpoBatch = A2CBatch & {
  /** Logarithm of the probability of each action when acting `[batch]`. */
  readonly oldLogProb: tf.Tensor1D;
  /** Values when acting `[batch]`; only where the value loss is clipped. */
  readonly oldValues?: tf.Tensor1D;
};

/** Numbers of an update, and the order of its rows, as tensors. */
export interface PpoInputs extends ActorCriticRates {
  /** Weight of the entropy. */
  readonly entropyCoefficient: tf.Scalar;
  /** Distance from 1 at which ratios are clipped. */
  readonly clipRange: tf.Scalar;
  /**
   * A permutation of the rows for each epoch, or of the sequences, which are
   * `env * sequences of a rollout + number of the sequence` `[epochs, rows]`, int32.
   */
  readonly order: tf.Tensor2D;
}

/**
 * Statistics of an update by name, all scalars: means over the minibatches that
 * stepped.
 */
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

/** A pure function from one state to the next. */
export type PpoUpdate = (
  state: ActorCriticState,
  batch: PpoBatch,
  inputs: PpoInputs,
) => { state: ActorCriticState; stats: PpoStatistics };

/** Options of {@link ppoUpdate}. */
export interface PpoUpdateOptions extends ActorCriticStepsOptions {
  /** Minibatches of each epoch. */
  readonly minibatches: number;
  /**
   * True to shift and scale each minibatch's advantages to mean 0 and standard
   * deviation 1, of `n - 1`.
   *
   * @default true
   */
  readonly normalizeAdvantage?: boolean;
  /**
   * Distance from the values when acting at which those of the loss are clipped.
   *
   * @default null: not clipped
   */
  readonly clipRangeValue?: number | null;
  /**
   * Form of the clipped value loss, see {@link clippedValueLoss}.
   *
   * @default "max"
   */
  readonly valueClip?: "max" | "clipped";
  /**
   * KL divergence of which 1.5 times ends an update, before the step.
   *
   * @default null: all steps are taken
   */
  readonly targetKl?: number | null;
}

/**
 * Makes PPO's update for a model: all minibatches of all epochs over a rollout, as one
 * pure function of tensors that reads none of them, so that it can be traced.
 *
 * A minibatch of a recurrent model is a set of whole sequences, each from the state
 * that acting had there.
 *
 * Source: Schulman et al. 2017 (https://arxiv.org/abs/1707.06347), algorithm 1.
 *
 * @param model The policy and the value function.
 * @param options Minibatches, optimizers, clipping.
 * @returns The update.
 *
 * @example
 * ```ts
 * import { actorCriticSteps } from "@bellman/a2c";
 * import { ppoUpdate } from "@bellman/ppo";
 * import { adam, RandomStream } from "@bellman/compute";
 * import { actorCritic } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
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
          const made = descend(
            state,
            lossesOf(model, options, minibatch, numbers),
            numbers,
          );
          const steps = targetKl === null ? running : tf.mul(
            running,
            tf.cast(
              tf.lessEqual(made.stats.approx_kl, 1.5 * targetKl),
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
              policy: kept(made.state.policy, state.policy),
              optimizer: kept(made.state.optimizer, state.optimizer),
              running: steps,
            },
            results: { ...made.stats, steps } as Record<string, tf.Tensor>,
          };
        },
      });
      const { running: goesOn, ...next } = after;
      return { state: next, stats: statisticsOf(results, goesOn, minibatches) };
    });
}

/** Takes rows or sequences of a rollout of so many. */
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

/** Shifts and scales to mean 0 and standard deviation 1, of `n - 1`. */
function normalized(values: tf.Tensor1D): tf.Tensor1D {
  const { mean, variance } = tf.moments(values);
  const bessel = values.size / (values.size - 1);
  const deviation = tf.sqrt(tf.mul(variance, bessel));
  return tf.div(tf.sub(values, mean), tf.add(deviation, 1e-8));
}

/** Takes the means over the minibatches that stepped. */
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
