import {
  clipByGlobalNorm,
  type Optimizer,
  type OptimizerState,
  type Params,
  tidy,
} from "@bellman/compute";
import { type ActorCritic, nest, scope } from "@bellman/policies";
import { separateGradients, sharedGradients } from "./_gradients.ts";
import { without } from "./_subset.ts";
import type { A2CUpdate } from "./update_types.ts";

/** Options of {@link a2cUpdate}. */
export interface A2CUpdateOptions {
  /** Turns gradients into steps. */
  readonly optimizer: Optimizer;
  /**
   * An optimizer for the value loss alone: the objectives are then separate.
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
 * import { a2cUpdate, initOptimizerState } from "@bellman/a2c";
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
 * const params = model.init(new RandomStream(1));
 * const update = a2cUpdate(model, { optimizer });
 * const { stats } = update(params, initOptimizerState(params, { optimizer }), {
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
 * The state of an update's optimizers before the first step.
 *
 * @param params The model's parameters.
 * @param options The options of the update.
 * @returns New tensors by slot and path; those of separate objectives are
 * under `policy/` and `value/`.
 *
 * @example
 * ```ts
 * import { initOptimizerState } from "@bellman/a2c";
 * import { rmspropTf1 } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const params = { "pi/head/bias": tf.zeros([2]) };
 * const state = initOptimizerState(params, { optimizer: rmspropTf1() });
 * assertEquals(Object.keys(state), ["rms/pi/head/bias"]);
 * ```
 */
export function initOptimizerState(
  params: Params,
  options: Pick<A2CUpdateOptions, "optimizer" | "valueOptimizer">,
): OptimizerState {
  const { optimizer, valueOptimizer } = options;
  if (valueOptimizer === undefined) return optimizer.init(params);
  return {
    ...nest(optimizer.init(without(params, "vf/")), "policy"),
    ...nest(valueOptimizer.init(without(params, "pi/")), "value"),
  };
}

function sharedUpdate(
  model: ActorCritic,
  options: A2CUpdateOptions,
): A2CUpdate {
  const { optimizer, valueCoefficient = 0.5, maxGradNorm = 0.5 } = options;
  return (params, state, batch, { learningRate, entropyCoefficient }) =>
    tidy(() => {
      const { gradients, losses } = sharedGradients(model, params, {
        batch,
        weights: { entropyCoefficient, valueCoefficient },
      });
      const clipped = clipByGlobalNorm(gradients, maxGradNorm);
      const step = optimizer.apply(params, clipped.gradients, {
        state,
        learningRate,
      });
      return {
        params: step.params,
        optimizerState: step.state,
        stats: { ...losses, grad_norm: clipped.norm },
      };
    });
}

function separateUpdate(
  model: ActorCritic,
  options: A2CUpdateOptions & { value: Optimizer },
): A2CUpdate {
  const { optimizer, value, maxGradNorm = 0.5 } = options;
  return (params, state, batch, hyperparameters) =>
    tidy(() => {
      const { learningRate, entropyCoefficient } = hyperparameters;
      const gradients = separateGradients(model, params, {
        batch,
        entropyCoefficient,
      });
      const ofPolicy = clipByGlobalNorm(gradients.policy, maxGradNorm);
      const ofValue = clipByGlobalNorm(gradients.value, maxGradNorm);
      const first = optimizer.apply(
        without(params, "vf/"),
        ofPolicy.gradients,
        { state: scope(state, "policy"), learningRate },
      );
      const half = { ...params, ...first.params };
      const second = value.apply(without(half, "pi/"), ofValue.gradients, {
        state: scope(state, "value"),
        learningRate: hyperparameters.valueLearningRate ?? learningRate,
      });
      return {
        params: { ...half, ...second.params },
        optimizerState: {
          ...nest(first.state, "policy"),
          ...nest(second.state, "value"),
        },
        stats: { ...gradients.losses, grad_norm: ofPolicy.norm },
      };
    });
}
