import {
  adam,
  cloneParams,
  descend,
  type Optimizer,
  type OptimizerState,
  type Params,
  polyak,
  tidy,
} from "@bellman/compute";
import { type QPolicy, valuesOfActions } from "@bellman/policies";
import type { ReplayBatch } from "@bellman/agent";
import type { RandomSource } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";
import type { DqnConfig } from "./config.ts";
import { type ReturnForm, returnForm } from "./loss.ts";

/** Training state of DQN. */
export type DqnState = {
  /** Parameters of the online network. */
  policy: Params;
  /** Parameters of the target network. */
  target: Params;
  /** Optimizer state. */
  slots: OptimizerState;
};

/** Batch of transitions. */
export interface DqnBatch extends ReplayBatch {
  /** Actions taken `[batch]`, int32. */
  readonly actions: tf.Tensor1D;
}

/** Hyperparameters of an update, and noise, as tensors. */
export interface DqnInputs {
  /** Learning rate. */
  readonly learningRate: tf.Scalar;
  /**
   * Update rate of the target network: 1 copies the parameters.
   *
   * @default the target network is not updated
   */
  readonly tau?: tf.Scalar;
  /**
   * Normal noise of noisy layers `[3, policy.noise.size]`: for the observations, for
   * the choice of the next action, and for the target network.
   */
  readonly noise?: tf.Tensor2D;
  /**
   * Probability of a random action, for the statistics.
   *
   * @default not among the statistics
   */
  readonly epsilon?: tf.Scalar;
}

/** Statistics of an update by name, all scalars. */
export type DqnStatistics =
  & Record<"loss" | "grad_norm" | "q_mean" | "target_mean", tf.Scalar>
  & Partial<Record<"clipped_mass" | "epsilon", tf.Scalar>>;

/** Update as a pure function from one training state to the next; it returns new priorities. */
export type DqnUpdate = (
  state: DqnState,
  batch: DqnBatch,
  inputs: DqnInputs,
) => {
  state: DqnState;
  stats: DqnStatistics;
  results: { readonly tdErrors: tf.Tensor1D };
};

/** Options of {@link dqnUpdate}: settings of DQN, and objects made from them. */
export interface DqnUpdateOptions
  extends Partial<Pick<DqnConfig, "double" | "gamma" | "maxGradNorm">> {
  /**
   * Representation of returns, with which the policy was made.
   *
   * @default means, with the Huber loss
   */
  readonly returns?: ReturnForm;
  /**
   * Optimizer.
   *
   * @default adam()
   */
  readonly optimizer?: Optimizer;
  /**
   * Smallest action.
   *
   * @default 0
   */
  readonly start?: number;
  /**
   * Weight of `mean(logsumexp_a Q(s, a) - Q(s, a'))` of the batch's actions `a'`, as
   * conservative Q-learning has it.
   *
   * @default 0
   */
  readonly cqlAlpha?: number;
}

/**
 * Makes the initial training state, with a copy of the parameters as target network.
 *
 * @param policy Policy of the Q-function.
 * @param random Random stream.
 * @param optimizer Optimizer of the update.
 * @returns The state, in new tensors.
 *
 * @example
 * ```ts
 * import { initDqnState } from "@bellman/dqn";
 * import { RandomStream } from "@bellman/compute";
 * import { qPolicy } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * const policy = qPolicy({
 *   observationSpace: { type: "discrete", n: 4 },
 *   actionSpace: { type: "discrete", n: 2 },
 * });
 * const { policy: online, target } = initDqnState(policy, new RandomStream(1));
 * assertEquals(Object.keys(target), Object.keys(online));
 * ```
 */
export function initDqnState(
  policy: Pick<QPolicy, "init">,
  random: RandomSource,
  optimizer: Optimizer = adam(),
): DqnState {
  const params = policy.init(random);
  return {
    policy: params,
    target: cloneParams(params),
    slots: optimizer.init(params),
  };
}

/**
 * Makes DQN's update as one pure function of tensors, which can be traced and compiled.
 *
 * - `a* = argmax_a Q(s', a)` of the online network (double), or of the target network
 * - `y = r + g Q'(s', a*)`, with `g = 0` after a termination: a mean, a projected
 *   distribution or quantiles
 * - `J = mean(w l(Q(s, a), y))`, with `cqlAlpha` the conservative term, minimized by one
 *   optimizer step
 *
 * Source: Mnih et al. 2015 (https://doi.org/10.1038/nature14236), van Hasselt et al.
 * 2016 (https://arxiv.org/abs/1509.06461), Hessel et al. 2018
 * (https://arxiv.org/abs/1710.02298), Kumar et al. 2020
 * (https://arxiv.org/abs/2006.04779).
 *
 * @param policy Policy of the Q-function.
 * @param options Representation of returns, discount, optimizer.
 * @returns The update.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { dqnUpdate, initDqnState } from "@bellman/dqn";
 * import { RandomStream } from "@bellman/compute";
 * import { qPolicy } from "@bellman/policies";
 * import { assert } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const policy = qPolicy({
 *   observationSpace: { type: "discrete", n: 2 },
 *   actionSpace: { type: "discrete", n: 2 },
 *   networkOptions: { hiddenSizes: [8] },
 * });
 * const state = initDqnState(policy, new RandomStream(1));
 * const { stats } = dqnUpdate(policy)(state, {
 *   observations: tf.eye(2),
 *   nextObservations: tf.eye(2),
 *   actions: tf.tensor1d([0, 1], "int32"),
 *   rewards: tf.tensor1d([1, -1]),
 *   terminated: tf.tensor1d([1, 1]),
 * }, { learningRate: tf.scalar(5e-4) });
 * assert(stats.loss.arraySync() > 0);
 * ```
 */
export function dqnUpdate(
  policy: QPolicy,
  options: DqnUpdateOptions = {},
): DqnUpdate {
  const { returns = returnForm(), double = true, gamma = 0.99 } = options;
  const { optimizer = adam(), maxGradNorm = 10, start = 0 } = options;
  const { cqlAlpha = 0 } = options;
  /** Distance of the taken actions' values `[batch, 1]` from the soft maximum of all. */
  const conservative = (all: tf.Tensor, taken: tf.Tensor): tf.Scalar => {
    const most = tf.logSumExp(returns.valuesOf(all as never), 1);
    const distance = tf.sub(most, tf.squeeze(taken, [1]));
    return tf.mul(tf.mean(distance), cqlAlpha);
  };
  return (state, batch, { learningRate, tau, noise, epsilon }) =>
    tidy(() => {
      const { observations, nextObservations, rewards, weights } = batch;
      const [online, selection, target] = noise
        ? tf.split<tf.Tensor2D>(noise, 3)
        : [];

      const after = policy.outputs(state.target, nextObservations, target);
      const choosing = double
        ? policy.outputs(state.policy, nextObservations, selection)
        : after;
      const values = policy.values(choosing, batch.nextActionMasks);
      const best = valuesOfActions(after, tf.argMax(values, 1));
      const goesOn = tf.sub(1, batch.terminated);
      const discounts = tf.mul<tf.Tensor1D>(goesOn, batch.discounts ?? gamma);
      const aim = returns.targetsOf(best, { rewards, discounts });

      const step = descend(
        (params) => {
          const allOutputs = policy.outputs(params, observations, online);
          const outputs = valuesOfActions(allOutputs, batch.actions, { start });
          const { losses, priorities } = returns.lossOf(outputs, aim.targets);
          const q = returns.valuesOf(tf.expandDims(outputs, 1));
          const loss = tf.mean<tf.Scalar>(
            weights ? tf.mul(weights, losses) : losses,
          );
          return {
            loss: cqlAlpha === 0
              ? loss
              : tf.add(loss, conservative(allOutputs, q)),
            aux: { priorities, q_mean: tf.mean<tf.Scalar>(q) },
          };
        },
        { params: state.policy, slots: state.slots },
        { optimizer, learningRate, maxGradNorm },
      );
      return {
        state: {
          policy: step.params,
          target: tau
            ? polyak(state.target, step.params, { tau })
            : cloneParams(state.target),
          slots: step.slots,
        },
        stats: {
          loss: step.loss,
          grad_norm: step.gradNorm!,
          q_mean: step.aux.q_mean,
          target_mean: tf.mean<tf.Scalar>(aim.values),
          ...(aim.clipped && { clipped_mass: aim.clipped }),
          ...(epsilon && { epsilon }),
        },
        results: { tdErrors: step.aux.priorities },
      };
    });
}
