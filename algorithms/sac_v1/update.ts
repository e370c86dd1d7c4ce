import {
  adamTf1,
  cloneParams,
  descend,
  type Optimizer,
  type OptimizerState,
  type Params,
  polyak,
  tidy,
} from "@bellman/compute";
import {
  type CriticEstimates,
  criticLoss,
  criticStep,
  criticTargets,
  eachCritic,
  initCritics,
  meanAndDeviation,
  type PolicyOutput,
  smallestEstimates,
  type ValueFunction,
} from "@bellman/policies";
import {
  entropyBonus,
  reparameterizedPolicyLoss,
  type SacDiagnostics,
  type SacInputs,
  type SacModel,
  type SacUpdate,
  softValues,
} from "@bellman/sac";
import type { RandomSource } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";
import { likelihoodRatioPolicyLoss, normalPriorLogProb } from "./losses.ts";

/** Policy, Q-functions and value function of continuous actions in [-1, 1]. */
export interface SacV1Model extends SacModel {
  /** Value function, also the form of its target network. */
  readonly vf: ValueFunction;
}

/** Options of {@link sacV1Update}. */
export interface SacV1UpdateOptions {
  /**
   * Optimizer of all networks; each has its own state.
   *
   * @default adamTf1()
   */
  readonly optimizer?: Optimizer;
  /**
   * Discount factor, if the batch has none.
   *
   * @default 0.99
   */
  readonly gamma?: number;
  /**
   * Prior that the policy's entropy is relative to: uniform, or standard normal.
   *
   * @default "uniform"
   */
  readonly actionPrior?: "uniform" | "normal";
  /**
   * Compute the policy gradient through the Q-functions and the sampled action; false
   * uses likelihood ratios. Mixtures need the latter, as the choice of their component
   * has no gradient.
   *
   * @default true; false for mixtures
   */
  readonly reparameterize?: boolean;
  /**
   * Weight of the penalty on the policy's means and log standard deviations (`reg`).
   *
   * @default 0.001
   */
  readonly policyRegularization?: number;
  /**
   * Use the policy loss of haarnoja/sac: the first Q-function instead of the minimum
   * and, if reparameterized, no prior.
   *
   * @default false
   */
  readonly haarnojaPolicyLoss?: boolean;
  /**
   * Differentiate the likelihood-ratio loss of a mixture also through the sampled
   * action, as the released haarnoja/sac does: the estimate is then biased.
   *
   * @default false
   */
  readonly haarnojaMixtureGradient?: boolean;
}

/** Training state of the first paper's SAC. */
export type SacV1State = {
  /** Parameters of the policy. */
  policy: Params;
  /** Parameters of both Q-functions, under `qf1/` and `qf2/`. */
  critics: Params;
  /** Parameters of the value function. */
  value: Params;
  /** Target network of the value function, with the same paths. */
  targets: Params;
  /** Optimizer state of the policy. */
  policySlots: OptimizerState;
  /** Optimizer state of the Q-functions. */
  criticSlots: OptimizerState;
  /** Optimizer state of the value function. */
  valueSlots: OptimizerState;
};

/**
 * Statistics of an update, all scalars, computed before it: {@link SacDiagnostics},
 * mean and standard deviation of V (`value_mean`, `value_std`), and the losses.
 * `policy_loss` is the sum of `policy_kl_loss` and `policy_regularization_loss`.
 */
export type SacV1Statistics =
  & SacDiagnostics
  & Record<
    | `value_${"mean" | "std"}`
    | `${"value" | "policy" | "policy_kl" | "policy_regularization"}_loss`
    | "entropy",
    tf.Scalar
  >;

/** Hyperparameters of an update, and noise of its sampled actions. */
export type SacV1Inputs = Omit<SacInputs, "nextNoise">;

/**
 * Update as a pure function from one training state to the next. The temperature is 1:
 * the reward scale is its inverse.
 */
export type SacV1Update = SacUpdate<
  SacV1Inputs,
  SacV1State,
  SacV1Statistics
>;

/**
 * Makes the update of SAC as in its first paper: two Q-functions, V and a target
 * network of V, as one pure function of tensors, which can be traced and compiled. All
 * gradients are taken at the parameters before the update.
 *
 * - `J_Q = sum_i mean(w (Q_i(s, a) - y)^2) / 2` with `y = scale r + b + gamma (1 - d)
 *   V'(s')`, where `b` is 0 except for n-step replay (`entropyBonus`)
 * - `J_V = mean((V(s) - A(s, a))^2) / 2` with `A = min_i Q_i(s, a) - log pi(a | s) +
 *   log p(a)`
 * - `J_pi = -mean(A)` reparameterized, `-mean(log pi(a | s) (A - V(s)))` by likelihood
 *   ratio, plus `reg (mean(logStd^2) + mean(mean^2)) / 2`
 *
 * Source: Haarnoja et al. 2018 (https://arxiv.org/abs/1801.01290), algorithm 1;
 * `sac.py` of haarnoja/sac.
 *
 * @param model Policy, value function and form of the Q-functions.
 * @param options Optimizer, discount and forms of the policy loss.
 * @returns The update.
 * @throws {TypeError} If a mixture is reparameterized.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { initSacV1State, sacV1Update } from "@bellman/sac-v1";
 * import { RandomStream } from "@bellman/compute";
 * import { qFunction, stochasticPolicy, valueFunction } from "@bellman/policies";
 * import { assert } from "@std/assert";
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
 * const state = initSacV1State(model, new RandomStream(1));
 * const update = sacV1Update(model, { actionPrior: "normal" });
 * const { stats } = update(state, {
 *   observations: tf.zeros([4, 3]),
 *   actions: tf.zeros([4, 1]),
 *   rewards: tf.ones([4]),
 *   terminated: tf.zeros([4]),
 *   nextObservations: tf.ones([4, 3]),
 * }, {
 *   learningRate: tf.scalar(3e-4),
 *   tau: tf.scalar(0.01),
 *   noise: tf.zeros([4, 1]),
 * });
 * assert(stats.value_loss.arraySync() > 0);
 * ```
 */
export function sacV1Update(
  model: SacV1Model,
  options: SacV1UpdateOptions = {},
): SacV1Update {
  const { qf, vf } = model;
  const { optimizer = adamTf1(), gamma = 0.99 } = options;
  const policy = policyLosses(model, options);

  return (state, batch, inputs) =>
    tidy(() => {
      const { observations, nextObservations, actions, weights } = batch;
      const { learningRate, criticLearningRate = learningRate, tau } = inputs;
      const { betweenObservations: between } = batch;
      const targets = criticTargets({
        ...batch,
        nextValues: vf.apply(state.targets, nextObservations),
        bonus: between && entropyBonus(
          policy.logRatio(state.policy, between, inputs.betweenNoise!),
          batch.betweenDiscounts!,
        ),
      }, { ...inputs, discount: batch.discounts ?? gamma });
      const critics = criticStep(
        state,
        (critics) => ({
          estimates: eachCritic(critics, (params) =>
            qf.apply(params, observations, actions)),
          targets,
        }),
        { weights, optimizer, learningRate: criticLearningRate },
      );

      const acting = { observations, noise: inputs.noise };
      const drawn = policy.act(state.policy, state.critics, acting);
      const wanted = softValues(
        smallestEstimates(drawn.estimates),
        drawn.logProb,
        drawn,
      );
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
          policy.loss(params, state.critics, { acting, drawn, baseline }),
        { params: state.policy, slots: state.policySlots },
        { optimizer, learningRate },
      );

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
          ...critics.stats as SacDiagnostics,
          value_mean: mean,
          value_std: deviation,
          value_loss: value.loss,
          policy_loss: actor.loss,
          ...actor.aux,
          entropy: tf.neg(tf.mean(drawn.logProb)) as tf.Scalar,
        },
        results: { tdErrors: critics.tdErrors },
      };
    });
}

/**
 * Makes the initial training state of {@link sacV1Update}. The target network is a
 * copy of V.
 *
 * @param model Policy, value function and form of the Q-functions.
 * @param random Random stream.
 * @param options Optimizer of the update.
 * @returns Training state, in new tensors.
 *
 * @example
 * ```ts
 * import { initSacV1State } from "@bellman/sac-v1";
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
 * const state = initSacV1State(model, new RandomStream(1));
 * assertEquals(Object.keys(state.targets), Object.keys(state.value));
 * ```
 */
export function initSacV1State(
  model: SacV1Model,
  random: RandomSource,
  options: Pick<SacV1UpdateOptions, "optimizer"> = {},
): SacV1State {
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

/** Observations, and noise of the policy's actions. */
interface Acting {
  readonly observations: tf.Tensor;
  readonly noise: tf.Tensor2D;
}

/** Makes the chosen policy loss of a model. */
function policyLosses(
  { policy, qf }: SacModel,
  options: SacV1UpdateOptions,
) {
  const { distribution } = policy;
  const isMixture = "components" in distribution;
  const {
    reparameterize = !isMixture,
    policyRegularization = 0.001,
    haarnojaPolicyLoss = false,
    haarnojaMixtureGradient = false,
  } = options;
  if (reparameterize && isMixture) {
    throw new TypeError(
      "Cannot reparameterize a mixture, as the choice of its component has no gradient: set reparameterize to false",
    );
  }
  const hasPrior = options.actionPrior === "normal";
  const asReleased = haarnojaMixtureGradient && isMixture;
  const ofPolicy = (estimates: CriticEstimates): tf.Tensor1D =>
    haarnojaPolicyLoss ? estimates.qf1 : smallestEstimates(estimates);

  function sample(params: Params, observations: tf.Tensor, noise: tf.Tensor2D) {
    const output = policy.apply(params, observations);
    const sampled = distribution.sampleWithLogProb(output.policy, noise, {
      reparameterize: reparameterize || asReleased,
    });
    return { output, ...sampled };
  }

  /** Computes `log pi(a | s) - log p(a)` of sampled actions. */
  function logRatio(
    params: Params,
    observations: tf.Tensor,
    noise: tf.Tensor2D,
  ): tf.Tensor1D {
    const { action, logProb } = sample(params, observations, noise);
    return hasPrior ? tf.sub(logProb, normalPriorLogProb(action)) : logProb;
  }

  /** Samples an action in each state, with its log-probability. */
  function act(
    params: Params,
    critics: Params,
    { observations, noise }: Acting,
  ) {
    const { output, action, logProb } = sample(params, observations, noise);
    const estimates = eachCritic(
      critics,
      (params) => qf.apply(params, observations, action),
    );
    const logPrior = hasPrior ? normalPriorLogProb(action) : undefined;
    return { output, action, logProb, logPrior, estimates };
  }

  /**
   * Computes the policy loss and its parts by name; actions sampled before the update
   * and `V(s)` are constants.
   */
  function loss(
    params: Params,
    critics: Params,
    { acting, drawn, baseline }: {
      acting: Acting;
      drawn: ReturnType<typeof act>;
      baseline: tf.Tensor1D;
    },
  ) {
    if (reparameterize) {
      const { output, logProb, ...now } = act(params, critics, acting);
      const logPrior = haarnojaPolicyLoss ? undefined : now.logPrior;
      const values = softValues(ofPolicy(now.estimates), logProb, { logPrior });
      return regularized(reparameterizedPolicyLoss(values), output);
    }
    const values = softValues(ofPolicy(drawn.estimates), drawn.logProb, drawn);
    const advantages = tf.sub(values, baseline) as tf.Tensor1D;
    const { output, action, logProb } = sample(
      params,
      acting.observations,
      acting.noise,
    );
    const score = asReleased
      ? withoutTanhGradient(logProb, action, drawn.action)
      : logProb;
    return regularized(likelihoodRatioPolicyLoss(score, advantages), output);
  }

  function regularized(policy_kl_loss: tf.Scalar, output: PolicyOutput) {
    const mean = tf.mean(distribution.regularization(output.policy));
    const policy_regularization_loss = tf.mul(
      mean,
      policyRegularization,
    ) as tf.Scalar;
    const loss = tf.add(
      policy_kl_loss,
      policy_regularization_loss,
    ) as tf.Scalar;
    return { loss, aux: { policy_kl_loss, policy_regularization_loss } };
  }

  return { logRatio, act, loss };
}

/**
 * Removes the gradient through the tanh's slope from log-probabilities: the original
 * differentiates the density at the sample, not that slope.
 */
function withoutTanhGradient(
  logProb: tf.Tensor1D,
  action: tf.Tensor,
  sameAction: tf.Tensor,
): tf.Tensor1D {
  const [moving, still] = [action, sameAction].map((it) => {
    const rows = tf.reshape(it, [logProb.size, -1]);
    const slope = tf.sub(1 + 1e-6, tf.square(rows));
    return tf.sum(tf.log(slope), 1);
  });
  return tf.add(logProb, tf.sub(moving, still));
}
