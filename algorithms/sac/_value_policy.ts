import type { LossValue, Params } from "@bellman/compute";
import type { PolicyOutput } from "@bellman/policies";
import * as tf from "@tensorflow/tfjs";
import { type Estimates, ofBoth, smaller } from "./_critics.ts";
import { softValues } from "./loss.ts";
import { isMixture } from "./_mixture.ts";
import type { SacModel } from "./model.ts";
import {
  likelihoodRatioPolicyLoss,
  normalPriorLogProb,
  reparameterizedPolicyLoss,
} from "./policy_loss.ts";
import type { SacValueBatch } from "./update_types.ts";
import type { SacValueUpdateOptions } from "./value_update_types.ts";

/** The policy's own action in each state, and what is thought of it. */
export interface OwnActions {
  readonly output: PolicyOutput;
  readonly action: tf.Tensor;
  readonly logProb: tf.Tensor1D;
  /** Log-density of the prior; none where that is uniform. */
  readonly logPrior?: tf.Tensor1D;
  readonly estimates: Estimates;
}

/** What a policy in the form with a V function does in an update. */
export interface ValuePolicy {
  /** `log pi(a | s) - log p(a)` of an action of its own in each state. */
  logRatio(
    params: Params,
    observations: tf.Tensor,
    noise: tf.Tensor2D,
  ): tf.Tensor1D;
  /** Acts in each state, and asks the Q functions. */
  act(params: Params, critics: Params, batch: SacValueBatch): OwnActions;
  /** Its loss, and the parts of it by the names of the original. */
  loss(
    params: Params,
    critics: Params,
    given: {
      batch: SacValueBatch;
      /** What the policy did before the update: numbers. */
      own: OwnActions;
      /** `V(s)`. */
      baseline: tf.Tensor1D;
    },
  ): LossValue<Record<"policy_kl_loss" | "policy_reg_loss", tf.Scalar>>;
}

/** The policy of a model with the loss that options choose. */
export function valuePolicy(
  { policy, qf }: SacModel,
  options: SacValueUpdateOptions,
): ValuePolicy {
  const { distribution } = policy;
  const {
    actionPrior = "uniform",
    reparameterize = !isMixture(distribution),
    policyRegularization = 0.001,
    haarnojaPolicyLoss = false,
    haarnojaMixtureGradient = false,
  } = options;
  if (reparameterize && isMixture(distribution)) {
    throw new TypeError(
      "Cannot reparameterize a mixture, as the choice of its component has no gradient: set reparameterize to false",
    );
  }
  const asReleased = haarnojaMixtureGradient && isMixture(distribution);
  const ofPolicy = (estimates: Estimates): tf.Tensor1D =>
    haarnojaPolicyLoss ? estimates.qf1 : smaller(estimates);

  function sample(
    params: Params,
    { observations, noise }: Pick<SacValueBatch, "observations" | "noise">,
  ) {
    const output = policy.apply(params, observations);
    const sampled = distribution.sampleWithLogProb(output.policy, noise, {
      reparameterize: reparameterize || asReleased,
    });
    return { output, ...sampled };
  }

  const act: ValuePolicy["act"] = (params, critics, batch) => {
    const { output, action, logProb } = sample(params, batch);
    const estimates = ofBoth(
      critics,
      (params) => qf.apply(params, batch.observations, action),
    );
    const own = { output, action, logProb, estimates };
    if (actionPrior === "uniform") return own;
    return { ...own, logPrior: normalPriorLogProb(action) };
  };

  const logRatio: ValuePolicy["logRatio"] = (params, observations, noise) => {
    const { action, logProb } = sample(params, { observations, noise });
    return actionPrior === "uniform"
      ? logProb
      : tf.sub(logProb, normalPriorLogProb(action));
  };

  const reparameterized: ValuePolicy["loss"] = (params, critics, { batch }) => {
    const { output, logProb, ...own } = act(params, critics, batch);
    const logPrior = haarnojaPolicyLoss ? undefined : own.logPrior;
    const values = softValues(ofPolicy(own.estimates), logProb, { logPrior });
    return regularized(reparameterizedPolicyLoss(values), output);
  };

  const likelihoodRatio: ValuePolicy["loss"] = (params, _, given) => {
    const { batch, own, baseline } = given;
    const values = softValues(ofPolicy(own.estimates), own.logProb, own);
    const advantages = tf.sub(values, baseline) as tf.Tensor1D;
    const { output, action, logProb } = sample(params, batch);
    const score = asReleased
      ? withoutTanhGradient(logProb, action, own.action)
      : logProb;
    return regularized(likelihoodRatioPolicyLoss(score, advantages), output);
  };

  function regularized(
    klLoss: tf.Scalar,
    output: PolicyOutput,
  ): ReturnType<ValuePolicy["loss"]> {
    const mean = tf.mean(distribution.regularization(output.policy));
    const regLoss = tf.mul(mean, policyRegularization) as tf.Scalar;
    const loss = tf.add(klLoss, regLoss) as tf.Scalar;
    return {
      loss,
      aux: { policy_kl_loss: klLoss, policy_reg_loss: regLoss },
    };
  }

  return {
    logRatio,
    act,
    loss: reparameterize ? reparameterized : likelihoodRatio,
  };
}

/**
 * The same log-probabilities without the gradient through the tanh's slope: the
 * original differentiates the density at the sample, but not that slope.
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
