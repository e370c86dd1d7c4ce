import {
  clipByGlobalNorm,
  type Optimizer,
  type OptimizerState,
  type Params,
  valueAndGradients,
} from "@bellman/compute";
import { addPrefix, pickPrefix } from "@bellman/policies";
import * as tf from "@tensorflow/tfjs";

/** Options of {@link actorCriticSteps}. */
export interface ActorCriticStepsOptions {
  /** Optimizer of the weighted sum, or of the policy loss if objectives are separate. */
  readonly optimizer: Optimizer;
  /**
   * Optimizer of the value loss; it makes the objectives separate.
   *
   * @default none: one optimizer minimizes the weighted sum
   */
  readonly valueOptimizer?: Optimizer;
  /**
   * Weight of the value loss in the weighted sum.
   *
   * @default 0.5
   */
  readonly valueCoefficient?: number;
  /**
   * Maximum global norm of the gradients; null for no clipping.
   *
   * @default 0.5
   */
  readonly maxGradNorm?: number | null;
}

/** Losses of an actor-critic, all scalars. */
export interface ActorCriticLosses {
  /** Policy loss with entropy bonus. */
  readonly policy: tf.Tensor;
  /** Value loss, unweighted. */
  readonly value: tf.Tensor;
  /** Statistics for the log. */
  readonly stats: Readonly<Record<string, tf.Scalar>>;
}

/** Training state of an actor-critic. */
export type ActorCriticState = {
  /** Parameters of policy and value function. */
  readonly policy: Params;
  /** Optimizer state; with two optimizers under `policy/` and `value/`. */
  readonly optimizer: OptimizerState;
};

/** Learning rates of {@link ActorCriticSteps}. */
export interface ActorCriticRates {
  /** Learning rate. */
  readonly learningRate: tf.Scalar;
  /**
   * Learning rate of the value optimizer; separate objectives only.
   *
   * @default learningRate
   */
  readonly valueLearningRate?: tf.Scalar;
}

/** Gradient steps of an actor-critic, as pure functions. */
export interface ActorCriticSteps {
  /** Makes the initial training state from parameters. */
  init(params: Params): ActorCriticState;
  /**
   * Takes one gradient step.
   *
   * @param state Training state.
   * @param losses Computes the losses from all parameters.
   * @param rates Learning rates.
   * @returns New state; `loss`, the losses' statistics and `grad_norm`, the gradient
   * norm before clipping.
   */
  descend(
    state: ActorCriticState,
    losses: (params: Params) => ActorCriticLosses,
    rates: ActorCriticRates,
  ): { state: ActorCriticState; stats: Record<string, tf.Scalar> };
}

/** Loss with its optimizer. */
interface Objective {
  /** Name of the optimizer's part of the state, if there are two. */
  readonly name?: "policy" | "value";
  readonly optimizer: Optimizer;
  /** Path prefix of parameters that only the other objective trains. */
  readonly others?: string;
  loss(losses: ActorCriticLosses): tf.Tensor;
}

/** Makes one objective of the weighted sum, or two. */
function objectivesOf(options: ActorCriticStepsOptions): Objective[] {
  const { optimizer, valueOptimizer, valueCoefficient = 0.5 } = options;
  if (valueOptimizer === undefined) {
    return [{
      optimizer,
      loss: ({ policy, value }) =>
        tf.add(policy, tf.mul(value, valueCoefficient)),
    }];
  }
  return [
    { name: "policy", optimizer, others: "vf/", loss: (it) => it.policy },
    {
      name: "value",
      optimizer: valueOptimizer,
      others: "pi/",
      loss: (it) => it.value,
    },
  ];
}

/**
 * Makes the gradient steps of an actor-critic: one optimizer minimizes the policy loss
 * plus `valueCoefficient` times the value loss, or each loss has its own. With two,
 * both gradients are taken at the same parameters; a shared trunk takes both steps.
 *
 * Source: `optimize_shared` and `optimize_separate` of jrobine/actor-critic.
 *
 * @param options Optimizers, weight of the value loss, gradient clipping.
 * @returns Functions that make the initial state and take a step.
 *
 * @example
 * ```ts
 * import { actorCriticSteps } from "@bellman/a2c";
 * import { sgd } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const { init, descend } = actorCriticSteps({ optimizer: sgd() });
 * const { state } = descend(init({ "pi/w": tf.scalar(1), "vf/w": tf.scalar(2) }), (params) => ({
 *   policy: params["pi/w"],
 *   value: params["vf/w"],
 *   stats: {},
 * }), { learningRate: tf.scalar(0.1) });
 * assertEquals(state.policy["pi/w"].dataSync()[0] < 1, true);
 * ```
 */
export function actorCriticSteps(
  options: ActorCriticStepsOptions,
): ActorCriticSteps {
  const { maxGradNorm = 0.5 } = options, objectives = objectivesOf(options);
  return {
    init(params) {
      const slots = objectives.map(({ name, others, optimizer }) =>
        named(optimizer.init(omitPrefix(params, others)), name)
      );
      return { policy: params, optimizer: Object.assign({}, ...slots) };
    },
    descend({ policy: params, optimizer }, losses, rates) {
      const { learningRate, valueLearningRate = learningRate } = rates;
      const descents = objectives.map((objective) => {
        const { gradients, loss, aux } = valueAndGradients((trained) => {
          const results = losses({ ...params, ...trained });
          return { loss: objective.loss(results), aux: { ...results.stats } };
        }, omitPrefix(params, objective.others));
        return { loss, aux, ...clipByGlobalNorm(gradients, maxGradNorm) };
      });
      let policy = params, slots = {};
      for (const [i, { name, others, ...objective }] of objectives.entries()) {
        const trained = omitPrefix(policy, others), { gradients } = descents[i];
        const step = objective.optimizer.apply(trained, gradients, {
          state: name === undefined ? optimizer : pickPrefix(optimizer, name),
          learningRate: name === "value" ? valueLearningRate : learningRate,
        });
        policy = { ...policy, ...step.params };
        slots = { ...slots, ...named(step.state, name) };
      }
      const [{ aux, norm }] = descents;
      const loss = tf.addN(descents.map(({ loss }) => loss)) as tf.Scalar;
      return {
        state: { policy, optimizer: slots },
        stats: { loss, ...aux as Record<string, tf.Scalar>, grad_norm: norm },
      };
    },
  };
}

/** Adds a name as prefix to optimizer state, if there is one. */
function named(slots: OptimizerState, name?: string): OptimizerState {
  return name === undefined ? slots : addPrefix(slots, name);
}

/** Omits entries whose path starts with `prefix`, if there is one. */
function omitPrefix(params: Params, prefix?: string): Params {
  if (prefix === undefined) return params;
  return Object.fromEntries(
    Object.entries(params).filter(([path]) => !path.startsWith(prefix)),
  );
}
