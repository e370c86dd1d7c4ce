import { type Params, valueAndGradients } from "@bellman/compute";
import type { ActorCritic } from "@bellman/policies";
import * as tf from "@tensorflow/tfjs";
import { a2cLoss, type A2CLossInputs, type A2CLossOptions } from "./loss.ts";
import { without } from "./_subset.ts";
import type { A2CBatch, A2CStatistics } from "./update_types.ts";

type Losses = Omit<A2CStatistics, "grad_norm">;

/** What the model says of a batch, ready for the loss. */
function evaluateBatch(
  model: ActorCritic,
  params: Params,
  batch: A2CBatch,
): A2CLossInputs {
  const { observations, actions, advantages, returns, state, masks } = batch;
  const recurrence = state && masks && { state, masks };
  const { policy, value } = model.apply(params, observations, recurrence);
  return {
    logProb: model.distribution.logProb(policy, actions),
    entropy: model.distribution.entropy(policy),
    values: value,
    advantages,
    returns,
  };
}

/** Losses of the weighted sum, and its gradient for all parameters. */
export function sharedGradients(
  model: ActorCritic,
  params: Params,
  { batch, weights }: { batch: A2CBatch; weights: A2CLossOptions },
): { gradients: Params; losses: Losses } {
  const { loss, aux, gradients } = valueAndGradients((params) => {
    const inputs = evaluateBatch(model, params, batch);
    const { loss, ...parts } = a2cLoss(inputs, weights);
    return { loss, aux: parts };
  }, params);
  const losses = {
    loss,
    policy_loss: aux.policyLoss,
    value_loss: aux.valueLoss,
    policy_entropy: aux.entropy,
  };
  return { gradients, losses };
}

/** Losses of the two objectives, and the gradient of each. */
export function separateGradients(
  model: ActorCritic,
  params: Params,
  { batch, entropyCoefficient }: {
    batch: A2CBatch;
    entropyCoefficient: tf.Scalar;
  },
): { policy: Params; value: Params; losses: Losses } {
  const apart = Object.keys(params)
    .every((path) => path.startsWith("pi/") || path.startsWith("vf/"));
  if (apart) {
    // No parameter is in both: the gradient of the sum is that of each.
    const weights = { entropyCoefficient, valueCoefficient: 1 };
    const { gradients, losses } = sharedGradients(model, params, {
      batch,
      weights,
    });
    const policy = without(gradients, "vf/");
    return { policy, value: without(gradients, "pi/"), losses };
  }
  const policy = valueAndGradients((part) => {
    const inputs = evaluateBatch(model, { ...params, ...part }, batch);
    const weights = { entropyCoefficient, valueCoefficient: 0 };
    const { loss, policyLoss, entropy } = a2cLoss(inputs, weights);
    return { loss, aux: { policyLoss, entropy } };
  }, without(params, "vf/"));
  const value = valueAndGradients((part) => {
    const inputs = evaluateBatch(model, { ...params, ...part }, batch);
    return { loss: a2cLoss(inputs).valueLoss };
  }, without(params, "pi/"));
  const losses = {
    loss: tf.add(policy.loss, value.loss) as tf.Scalar,
    policy_loss: policy.aux.policyLoss,
    value_loss: value.loss,
    policy_entropy: policy.aux.entropy,
  };
  return { policy: policy.gradients, value: value.gradients, losses };
}
