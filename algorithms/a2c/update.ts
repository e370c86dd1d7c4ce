import {
  clipByGlobalNorm,
  type Optimizer,
  type OptimizerState,
  type Params,
  tidy,
  valueAndGradients,
} from "@bellman/compute";
import { type ActorCritic, nest, scope } from "@bellman/policies";
import * as tf from "@tensorflow/tfjs";
import { a2cLoss, type A2CLossInputs, type A2CLossOptions } from "./loss.ts";

/** One rollout as the update takes it; rows are `env * numSteps + step`. */
export interface A2CBatch {
  /** Encoded observations `[batch, ...observationShape]`. */
  readonly observations: tf.Tensor;
  /** Actions taken, as sampled `[batch, ...actionShape]`. */
  readonly actions: tf.Tensor;
  /** Advantages of the taken actions `[batch]`. */
  readonly advantages: tf.Tensor1D;
  /** Bootstrapped returns, targets of the values `[batch]`. */
  readonly returns: tf.Tensor1D;
  /** Recurrent models only: state before the first step `[numEnvs, stateSize]`. */
  readonly state?: tf.Tensor2D;
  /** Recurrent models only: 1 where an episode starts at the row `[batch]`. */
  readonly masks?: tf.Tensor1D;
}

/** Numbers that change from update to update, as tensors. */
export interface A2CHyperparameters {
  /** Learning rate of this update. */
  readonly learningRate: tf.Scalar;
  /** Weight of the entropy. */
  readonly entropyCoefficient: tf.Scalar;
  /**
   * Learning rate of the value's own optimizer; separate objectives only.
   *
   * @default learningRate
   */
  readonly valueLearningRate?: tf.Scalar;
}

/** Statistics of an update by name; all scalars. */
export type A2CStatistics = Record<
  "loss" | "policy_loss" | "value_loss" | "entropy" | "grad_norm",
  tf.Scalar
>;

/** Everything that an update moves. */
export type A2CState = {
  /** Parameters of policy and values. */
  readonly policy: Params;
  /** Slots of the optimizer; those of two optimizers are under `policy/` and `value/`. */
  readonly optimizer: OptimizerState;
};

/** Result of an update: new tensors, those that it was given stay. */
export interface A2CUpdateResult {
  /** State after the update. */
  readonly state: A2CState;
  /** Losses, entropy and the norm of the gradient before it was clipped. */
  readonly stats: A2CStatistics;
}

/** A pure function from one state to the next. */
export type A2CUpdate = (
  state: A2CState,
  batch: A2CBatch,
  hyperparameters: A2CHyperparameters,
) => A2CUpdateResult;

/** Options of {@link a2cUpdate}. */
export interface A2CUpdateOptions {
  /** Optimizer of the weighted sum, or of the policy's loss. */
  readonly optimizer: Optimizer;
  /**
   * Optimizer of the value loss alone: the objectives are then separate.
   *
   * @default none: one optimizer minimises the weighted sum
   */
  readonly valueOptimizer?: Optimizer;
  /**
   * Weight of the value loss in the weighted sum.
   *
   * @default 0.5
   */
  readonly valueCoefficient?: number;
  /**
   * Global norm that gradients are clipped to; null for no clipping.
   *
   * @default 0.5
   */
  readonly maxGradNorm?: number | null;
}

/**
 * Makes A2C's update for a model: losses, gradients, clipping and the step, as
 * one pure function of tensors that reads none of them, so that it can be
 * traced.
 *
 * Shared objective: one optimizer minimises
 * `policyLoss - entropyCoefficient * entropy + valueCoefficient * valueLoss`.
 * Separate objectives, with a `valueOptimizer`: the policy's optimizer
 * minimises `policyLoss - entropyCoefficient * entropy` and the other one
 * `valueLoss`. Both gradients are taken at the same parameters; a trunk that
 * is shared takes both steps.
 *
 * Source: baselines/a2c/a2c.py, lines 28-110; `optimize_shared` and
 * `optimize_separate` of jrobine/actor-critic.
 *
 * @param model The policy and the value function.
 * @param options Optimizers, weight of the value loss, clipping.
 * @returns The update.
 *
 * @example
 * ```ts
 * import { a2cUpdate, initA2CState } from "@bellman/a2c";
 * import { RandomStream, rmspropTf1 } from "@bellman/compute";
 * import { actorCritic } from "@bellman/policies";
 * import { assert } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const model = actorCritic({
 *   observationSpace: { type: "discrete", n: 2 },
 *   actionSpace: { type: "discrete", n: 2 },
 *   network: "mlp",
 * });
 * const optimizer = rmspropTf1();
 * const state = initA2CState(model.init(new RandomStream(1)), { optimizer });
 * const update = a2cUpdate(model, { optimizer });
 * const { stats } = update(state, {
 *   observations: model.observationTensor(new Int32Array([0, 1]), 2),
 *   actions: tf.tensor1d([0, 1], "int32"),
 *   advantages: tf.tensor1d([1, -1]),
 *   returns: tf.tensor1d([1, 0]),
 * }, {
 *   learningRate: tf.scalar(7e-4),
 *   entropyCoefficient: tf.scalar(0.01),
 * });
 * assert(stats.grad_norm.arraySync() > 0);
 * ```
 */
export function a2cUpdate(
  model: ActorCritic,
  options: A2CUpdateOptions,
): A2CUpdate {
  return options.valueOptimizer === undefined
    ? sharedUpdate(model, options)
    : separateUpdate(model, { ...options, value: options.valueOptimizer });
}

/**
 * Initializes the state of an update.
 *
 * @param params The model's parameters.
 * @param options The options of the update.
 * @returns Parameters, and slots of the optimizer in new tensors.
 *
 * @example
 * ```ts
 * import { initA2CState } from "@bellman/a2c";
 * import { rmspropTf1 } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const params = { "pi/head/bias": tf.zeros([2]) };
 * const state = initA2CState(params, { optimizer: rmspropTf1() });
 * assertEquals(Object.keys(state.optimizer), ["rms/pi/head/bias"]);
 * ```
 */
export function initA2CState(
  params: Params,
  options: Pick<A2CUpdateOptions, "optimizer" | "valueOptimizer">,
): A2CState {
  const { optimizer, valueOptimizer } = options;
  const slots = valueOptimizer === undefined ? optimizer.init(params) : {
    ...nest(optimizer.init(omitPrefix(params, "vf/")), "policy"),
    ...nest(valueOptimizer.init(omitPrefix(params, "pi/")), "value"),
  };
  return { policy: params, optimizer: slots };
}

function sharedUpdate(
  model: ActorCritic,
  options: A2CUpdateOptions,
): A2CUpdate {
  const { optimizer, valueCoefficient = 0.5, maxGradNorm = 0.5 } = options;
  return ({ policy, optimizer: state }, batch, hyperparameters) =>
    tidy(() => {
      const { learningRate, entropyCoefficient } = hyperparameters;
      const { gradients, losses } = sharedGradients(model, policy, {
        batch,
        weights: { entropyCoefficient, valueCoefficient },
      });
      const clipped = clipByGlobalNorm(gradients, maxGradNorm);
      const step = optimizer.apply(policy, clipped.gradients, {
        state,
        learningRate,
      });
      return {
        state: { policy: step.params, optimizer: step.state },
        stats: { ...losses, grad_norm: clipped.norm },
      };
    });
}

function separateUpdate(
  model: ActorCritic,
  options: A2CUpdateOptions & { value: Optimizer },
): A2CUpdate {
  const { optimizer, value, maxGradNorm = 0.5 } = options;
  return ({ policy: params, optimizer: state }, batch, hyperparameters) =>
    tidy(() => {
      const { learningRate, entropyCoefficient } = hyperparameters;
      const { valueLearningRate = learningRate } = hyperparameters;
      const gradients = separateGradients(model, params, {
        batch,
        entropyCoefficient,
      });
      const ofPolicy = clipByGlobalNorm(gradients.policy, maxGradNorm);
      const ofValue = clipByGlobalNorm(gradients.value, maxGradNorm);
      const first = optimizer.apply(
        omitPrefix(params, "vf/"),
        ofPolicy.gradients,
        { state: scope(state, "policy"), learningRate },
      );
      const half = { ...params, ...first.params };
      const second = value.apply(omitPrefix(half, "pi/"), ofValue.gradients, {
        state: scope(state, "value"),
        learningRate: valueLearningRate,
      });
      return {
        state: {
          policy: { ...half, ...second.params },
          optimizer: {
            ...nest(first.state, "policy"),
            ...nest(second.state, "value"),
          },
        },
        stats: { ...gradients.losses, grad_norm: ofPolicy.norm },
      };
    });
}

type Losses = Omit<A2CStatistics, "grad_norm">;

/** Inputs of the loss, and the parameters of the actions' distribution. */
export interface A2CEvaluation extends A2CLossInputs {
  /** Parameters of the distribution `[batch, parameterSize]`. */
  readonly policy: tf.Tensor2D;
}

/**
 * Evaluates a model on a batch, for the loss.
 *
 * @param model The policy and the value function.
 * @param params Its parameters.
 * @param batch A rollout.
 * @returns The inputs of `a2cLoss`, and the distribution's parameters.
 *
 * @example
 * ```ts
 * import { evaluateBatch } from "@bellman/a2c";
 * import { RandomStream } from "@bellman/compute";
 * import { actorCritic } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const model = actorCritic({
 *   observationSpace: { type: "discrete", n: 2 },
 *   actionSpace: { type: "discrete", n: 3 },
 *   network: "mlp",
 * });
 * const { policy, values } = evaluateBatch(model, model.init(new RandomStream(1)), {
 *   observations: model.observationTensor(new Int32Array([0, 1]), 2),
 *   actions: tf.tensor1d([0, 1], "int32"),
 *   advantages: tf.tensor1d([1, -1]),
 *   returns: tf.tensor1d([1, 0]),
 * });
 * assertEquals([policy.shape, values.shape], [[2, 3], [2]]);
 * ```
 */
export function evaluateBatch(
  model: ActorCritic,
  params: Params,
  batch: A2CBatch,
): A2CEvaluation {
  const { observations, actions, advantages, returns, state, masks } = batch;
  const recurrence = state && masks && { state, masks };
  const { policy, value } = model.apply(params, observations, recurrence);
  return {
    policy,
    logProb: model.distribution.logProb(policy, actions),
    entropy: model.distribution.entropy(policy),
    values: value,
    advantages,
    returns,
  };
}

/** Computes the losses, and the weighted sum's gradient for all parameters. */
function sharedGradients(
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
    entropy: aux.entropy,
  };
  return { gradients, losses };
}

/** Computes the losses of both objectives, and the gradient of each. */
function separateGradients(
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
    const policy = omitPrefix(gradients, "vf/");
    return { policy, value: omitPrefix(gradients, "pi/"), losses };
  }
  const policy = valueAndGradients((part) => {
    const inputs = evaluateBatch(model, { ...params, ...part }, batch);
    const weights = { entropyCoefficient, valueCoefficient: 0 };
    const { loss, policyLoss, entropy } = a2cLoss(inputs, weights);
    return { loss, aux: { policyLoss, entropy } };
  }, omitPrefix(params, "vf/"));
  const value = valueAndGradients((part) => {
    const inputs = evaluateBatch(model, { ...params, ...part }, batch);
    return { loss: a2cLoss(inputs).valueLoss };
  }, omitPrefix(params, "pi/"));
  const losses = {
    loss: tf.add(policy.loss, value.loss) as tf.Scalar,
    policy_loss: policy.aux.policyLoss,
    value_loss: value.loss,
    entropy: policy.aux.entropy,
  };
  return { policy: policy.gradients, value: value.gradients, losses };
}

/** Omits the entries whose path starts with `prefix`. */
function omitPrefix(params: Params, prefix: string): Params {
  return Object.fromEntries(
    Object.entries(params).filter(([path]) => !path.startsWith(prefix)),
  );
}
