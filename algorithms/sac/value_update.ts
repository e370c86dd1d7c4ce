import { adamTf1, cloneParams, polyak, tidy } from "@bellman/compute";
import type { RandomSource } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";
import {
  bothLosses,
  entropiesBetween,
  initCritics,
  ofBoth,
  smaller,
} from "./_critics.ts";
import { descend } from "./_descend.ts";
import { sacDiagnostics } from "./diagnostics.ts";
import {
  absoluteTdErrors,
  criticLoss,
  criticTargets,
  softValues,
} from "./loss.ts";
import type { SacValueModel } from "./model.ts";
import { meanAndDeviation } from "./_moments.ts";
import { valuePolicy } from "./_value_policy.ts";
import type {
  SacValueState,
  SacValueUpdate,
  SacValueUpdateOptions,
} from "./value_update_types.ts";

/**
 * Makes the update of soft actor-critic with a V function: two Q functions, V
 * and a target network of V. It is one pure function of tensors that reads
 * none of them, so that it can be traced. All gradients are taken at the
 * parameters before the update.
 *
 * - `J_Q = sum_i mean(w (Q_i(s, a) - y)^2) / 2` with
 *   `y = scale r + b + gamma (1 - d) V'(s')`, where `b` is 0 but for n-step
 *   replay (`entropyBonus`)
 * - `J_V = mean((V(s) - A(s, a))^2) / 2` with
 *   `A = min_i Q_i(s, a) - log pi(a | s) + log p(a)`
 * - `J_pi = -mean(A)` reparameterized, `-mean(log pi(a | s) (A - V(s)))` by
 *   likelihood ratio, plus `reg (mean(logStd^2) + mean(mean^2)) / 2`
 *
 * Source: Haarnoja et al. 2018 (https://arxiv.org/abs/1801.01290), algorithm 1;
 * `sac.py` of haarnoja/sac.
 *
 * @param model The policy, V and the form of the Q functions.
 * @param options Optimizer, discount and forms of the policy's loss.
 * @returns The update.
 * @throws {TypeError} If a mixture is to be reparameterized.
 *
 * @example
 * ```ts
 * import { initSacValueState, sacValueUpdate } from "@bellman/sac";
 * import { RandomStream } from "@bellman/compute";
 * import { qFunction, stochasticPolicy, valueFunction } from "@bellman/policies";
 * import { assert } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const box = { type: "box", low: -1, high: 1, dtype: "float32" } as const;
 * const spaces = {
 *   observationSpace: { ...box, shape: [3] },
 *   actionSpace: { ...box, shape: [1] },
 *   networkOptions: { hiddenSizes: [8] },
 * };
 * const model = {
 *   policy: stochasticPolicy(spaces),
 *   qf: qFunction(spaces),
 *   vf: valueFunction(spaces),
 * };
 * const state = initSacValueState(model, new RandomStream(1));
 * const update = sacValueUpdate(model, { actionPrior: "normal" });
 * const { stats } = update(state, {
 *   observations: tf.zeros([4, 3]),
 *   actions: tf.zeros([4, 1]),
 *   rewards: tf.ones([4]),
 *   terminated: tf.zeros([4]),
 *   nextObservations: tf.ones([4, 3]),
 *   noise: tf.zeros([4, 1]),
 * }, { learningRate: tf.scalar(3e-4), tau: tf.scalar(0.01) });
 * assert(stats.vf_loss.arraySync() > 0);
 * ```
 */
export function sacValueUpdate(
  model: SacValueModel,
  options: SacValueUpdateOptions = {},
): SacValueUpdate {
  const { qf, vf } = model;
  const { optimizer = adamTf1(), gamma = 0.99 } = options;
  const policy = valuePolicy(model, options);

  return (state, batch, hyperparameters) =>
    tidy(() => {
      const { observations, nextObservations, actions, weights } = batch;
      const { learningRate, tau, rewardScale } = hyperparameters;
      const { criticLearningRate = learningRate } = hyperparameters;

      const targets = criticTargets({
        ...batch,
        bonus: entropiesBetween(
          batch,
          (x) => policy.logRatio(state.policy, x, batch.betweenNoise!),
        ),
        nextValues: vf.apply(state.targets, nextObservations),
      }, { discount: batch.discounts ?? gamma, rewardScale });
      const critics = descend(
        (params) => {
          const estimates = ofBoth(
            params,
            (params) => qf.apply(params, observations, actions),
          );
          return bothLosses(estimates, targets, { weights });
        },
        { params: state.critics, slots: state.criticSlots },
        { optimizer, learningRate: criticLearningRate },
      );

      const own = policy.act(state.policy, state.critics, batch);
      const wanted = softValues(smaller(own.estimates), own.logProb, own);
      const value = descend(
        (params) => {
          const baseline = vf.apply(params, observations);
          return { loss: criticLoss(baseline, wanted), aux: { baseline } };
        },
        { params: state.value, slots: state.valueSlots },
        { optimizer, learningRate: criticLearningRate },
      );

      const { baseline } = value.aux;
      const actor = descend(
        (params) =>
          policy.loss(params, state.critics, { batch, own, baseline }),
        { params: state.policy, slots: state.policySlots },
        { optimizer, learningRate },
      );

      const { qf1, qf2 } = critics.aux;
      const { mean, deviation } = meanAndDeviation(baseline);
      return {
        state: {
          policy: actor.params,
          critics: critics.params,
          value: value.params,
          targets: polyak(state.targets, value.params, { tau }),
          policySlots: actor.slots,
          criticSlots: critics.slots,
          valueSlots: value.slots,
        },
        stats: {
          ...sacDiagnostics({ qf1, qf2, targets }),
          "vf-avg": mean,
          "vf-std": deviation,
          vf_loss: value.loss,
          policy_loss: actor.loss,
          ...actor.aux,
          entropy: tf.neg(tf.mean(own.logProb)) as tf.Scalar,
        },
        tdErrors: absoluteTdErrors([qf1, qf2], targets),
      };
    });
}

/**
 * The state before the first update of `sacValueUpdate`. The target network is
 * a copy of V.
 *
 * @param model The policy, V and the form of the Q functions.
 * @param random Where the first parameters are drawn from.
 * @param options The optimizer of the update.
 * @returns New tensors.
 *
 * @example
 * ```ts
 * import { initSacValueState } from "@bellman/sac";
 * import { RandomStream } from "@bellman/compute";
 * import { qFunction, stochasticPolicy, valueFunction } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * const box = { type: "box", low: -1, high: 1, dtype: "float32" } as const;
 * const spaces = {
 *   observationSpace: { ...box, shape: [3] },
 *   actionSpace: { ...box, shape: [1] },
 * };
 * const model = {
 *   policy: stochasticPolicy(spaces),
 *   qf: qFunction(spaces),
 *   vf: valueFunction(spaces),
 * };
 * const state = initSacValueState(model, new RandomStream(1));
 * assertEquals(Object.keys(state.targets), Object.keys(state.value));
 * ```
 */
export function initSacValueState(
  model: SacValueModel,
  random: RandomSource,
  options: Pick<SacValueUpdateOptions, "optimizer"> = {},
): SacValueState {
  const { optimizer = adamTf1() } = options;
  const policy = model.policy.init(random);
  const critics = initCritics(model.qf, random);
  const value = model.vf.init(random);
  return {
    policy,
    critics,
    value,
    targets: cloneParams(value),
    policySlots: optimizer.init(policy),
    criticSlots: optimizer.init(critics),
    valueSlots: optimizer.init(value),
  };
}
