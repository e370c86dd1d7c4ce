import {
  clipByGlobalNorm,
  cloneParams,
  globalNorm,
  mapParams,
  type Optimizer,
  type OptimizerState,
  type Params,
  polyak,
  tidy,
  valueAndGradients,
} from "@bellman/compute";
import type { QActorCritic } from "@bellman/policies";
import * as tf from "@tensorflow/tfjs";
import {
  acerLoss,
  type AcerLosses,
  type AcerLossOptions,
  type AcerRows,
  countOf,
  divergenceGradient,
  oneHot,
  segmentErrors,
  type SegmentRows,
  sharesOf,
  trustRegion,
  type TrustRegionStatistics,
  weightedMean,
} from "./losses.ts";

/** Batch of segments; rows are `env * rowsOfAnEnv + row`. */
export interface SegmentBatch extends SegmentRows {
  /** Encoded observations `[rows, ...observationShape]`. */
  readonly observations: tf.Tensor;
  /** Recurrent state before the first row `[numEnvs, stateSize]`; recurrent only. */
  readonly state?: tf.Tensor2D;
  /** Episode starts: 1 where an episode starts at the row `[rows]`; recurrent only. */
  readonly masks?: tf.Tensor1D;
  /** Action masks `[rows, distribution.masking.size]`, if there are some. */
  readonly actionMasks?: tf.Tensor2D;
}

/** Batch of segments of discrete actions. */
export interface AcerBatch extends AcerRows, SegmentBatch {}

/** Training state of ACER. */
export type AcerState = {
  /** Parameters of policy and Q-function. */
  policy: Params;
  /** Average policy: moving average of the parameters, the centre of the trust region. */
  average: Params;
  /** Optimizer state. */
  slots: OptimizerState;
};

/**
 * Statistics of an update, all scalars. Norms of the gradients' parts need a trust
 * region and `partNorms`.
 */
export type AcerStatistics =
  & AcerLosses
  & Record<"grad_norm", tf.Scalar>
  & Partial<
    & TrustRegionStatistics
    & Record<"q_grad_norm" | "policy_grad_norm", tf.Scalar>
  >;

/** Result of an update, in new tensors; its inputs stay valid. */
export interface AcerUpdateResult {
  /** State after the update. */
  state: AcerState;
  /** Losses and norms before the update. */
  stats: AcerStatistics;
  /** Mean absolute TD error of each segment, if segments have weights. */
  results?: { readonly tdErrors: tf.Tensor1D };
}

/** Scheduled hyperparameters, as tensors. */
export interface AcerInputs {
  /** Learning rate. */
  readonly learningRate: tf.Scalar;
}

/** Update as a pure function from one training state to the next. */
export type AcerUpdate<B = AcerBatch> = (
  state: AcerState,
  batch: B,
  inputs: AcerInputs,
) => AcerUpdateResult;

/** Options of {@link acerGradients}. */
export interface AcerGradientsOptions extends AcerLossOptions {
  /**
   * Project the policy gradient into the trust region.
   *
   * @default true
   */
  readonly trustRegion?: boolean;
  /**
   * Largest KL divergence from the average policy along the gradient.
   *
   * @default 1
   */
  readonly delta?: number;
  /**
   * Compute the norms of the policy's and the Q-function's gradients: false saves one
   * of two Jacobian products.
   *
   * @default true
   */
  readonly partNorms?: boolean;
}

/** Options of {@link acerUpdate}. */
export interface AcerUpdateOptions extends AcerGradientsOptions {
  /** Optimizer of the weighted sum of the losses. */
  readonly optimizer: Optimizer;
  /**
   * Maximum gradient norm; null for no clipping.
   *
   * @default 10
   */
  readonly maxGradNorm?: number | null;
  /**
   * Decay of the moving average, `alpha`.
   *
   * @default 0.99
   */
  readonly averageDecay?: number;
  /**
   * Parameters that the average takes in: those after the step, or those before it, as
   * for most variables of the released graph.
   *
   * @default "after_step"
   */
  readonly averageOrder?: "after_step" | "before_step";
}

/** Gradients before clipping, and statistics. */
export interface AcerGradients {
  /** Gradient of each parameter, by path. */
  readonly gradients: Params;
  /** Losses, and norms of the gradients' parts. */
  readonly statistics: Omit<AcerStatistics, "grad_norm">;
  /** Errors of the Q-values `[rows]`. */
  readonly errors: tf.Tensor1D;
}

/**
 * Computes the gradients of ACER: the policy gradient, projected into the trust region,
 * plus that of `q_coef q_loss`.
 *
 * @param model Policy and Q-function.
 * @param state Parameters and their moving average.
 * @param batch Segments.
 * @param options Loss weights and limits.
 * @returns Gradients and statistics.
 *
 * @example
 * ```ts
 * import { acerGradients } from "@bellman/acer";
 * import { RandomStream } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { qActorCritic } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const model = qActorCritic({
 *   observationSpace: { type: "discrete", n: 2 },
 *   actionSpace: { type: "discrete", n: 2 },
 *   network: "mlp",
 * });
 * const policy = model.init(new RandomStream(1));
 * const { gradients } = acerGradients(model, { policy, average: policy }, {
 *   observations: model.observationTensor(new Int32Array([0, 1]), 2),
 *   actions: tf.tensor1d([1, 0], "int32"),
 *   rewards: tf.tensor1d([1, 0]),
 *   terminated: tf.tensor1d([0, 0]),
 *   taken: tf.tensor1d([1, 0]),
 *   mu: tf.fill([2, 2], 0.5),
 * }, { numEnvs: 1 });
 * assertEquals(Object.keys(gradients), Object.keys(policy));
 * ```
 */
export function acerGradients(
  model: QActorCritic,
  { policy, average }: Pick<AcerState, "policy" | "average">,
  batch: AcerBatch,
  options: AcerGradientsOptions,
): AcerGradients {
  const run = (params: Params) => {
    const out = model.apply(params, batch.observations, batch);
    return { f: tf.softmax(out.policy), q: out.q };
  };
  const outputs = run(policy);
  const { targets, ...loss } = acerLoss(outputs, batch, options);
  const chosen = oneHot(batch.actions, outputs.q.shape[1]);
  const mean = weightedMean(batch);
  return throughNetwork(policy, {
    ...loss,
    k: () => divergenceGradient(outputs.f, run(average).f),
    parts(params) {
      const { f, q } = run(params);
      const qTaken = tf.sum(tf.mul(q, chosen), 1);
      const errors = tf.squaredDifference(targets, qTaken);
      return { statistics: f, qLoss: tf.mul(mean(errors), 0.5) };
    },
  }, { ...options, rows: batch });
}

/** Losses and gradients of an update before they reach the parameters. */
export interface NetworkGradients {
  /** Losses, for the log. */
  readonly losses: AcerLosses;
  /** Errors of the Q-values `[rows]`. */
  readonly errors: tf.Tensor1D;
  /** Gradient of each row's gain with respect to the policy's statistics, `g`. */
  readonly gradient: tf.Tensor2D;
  /** Computes the gradient of the KL divergence with respect to them. */
  k(): tf.Tensor2D;
  /** Computes these statistics `[rows, n]` and the Q-function's loss. */
  parts(params: Params): {
    readonly statistics: tf.Tensor2D;
    readonly qLoss: tf.Tensor;
  };
}

/** Projects the policy gradient, and backpropagates both gradients to the parameters. */
export function throughNetwork(
  params: Params,
  { losses, errors, gradient, k, parts }: NetworkGradients,
  options: AcerGradientsOptions & { readonly rows: SegmentRows },
): AcerGradients {
  const { qCoefficient = 0.5, delta = 1, rows } = options;
  const { taken, weights } = rows;
  const count = countOf(taken);
  const gain = (statistics: tf.Tensor2D, gradient: tf.Tensor2D) => {
    const towards = weights
      ? tf.mul(gradient, tf.expandDims(sharesOf(rows), 1))
      : gradient;
    return tf.div(tf.sum(tf.mul(statistics, towards)), count);
  };
  const gradientsOf = (loss: (params: Params) => tf.Tensor) =>
    valueAndGradients((it) => ({ loss: loss(it) as tf.Scalar }), params)
      .gradients;
  /** Computes the gradient of both parts in one product with the Jacobian. */
  const whole = (gradient: tf.Tensor2D) =>
    gradientsOf((it) => {
      const { statistics, qLoss } = parts(it);
      return tf.sub(tf.mul(qLoss, qCoefficient), gain(statistics, gradient));
    });
  if (options.trustRegion === false) {
    return { gradients: whole(gradient), errors, statistics: losses };
  }
  const projected = trustRegion(gradient, k(), { delta, taken });
  if (options.partNorms === false) {
    const statistics = { ...losses, ...projected.statistics };
    return { gradients: whole(projected.gradient), errors, statistics };
  }
  const ofPolicy = gradientsOf((it) =>
    tf.neg(gain(parts(it).statistics, projected.gradient))
  );
  const ofQ = gradientsOf((it) => tf.mul(parts(it).qLoss, qCoefficient));
  return {
    gradients: mapParams(ofPolicy, (it, path) => tf.add(it, ofQ[path])),
    errors,
    statistics: {
      ...losses,
      q_grad_norm: globalNorm(ofQ),
      policy_grad_norm: globalNorm(ofPolicy),
      ...projected.statistics,
    },
  };
}

/**
 * Makes ACER's update of a model: losses, projection, gradients, clipping, optimizer
 * step and moving average, as one pure function of tensors, which can be traced and
 * compiled.
 *
 * Source: Wang et al. 2017 (https://arxiv.org/abs/1611.01224), algorithm 2; `Model` of
 * baselines/acer/acer.py.
 *
 * @param model Policy and Q-function.
 * @param options Optimizer, loss weights and limits.
 * @returns The update.
 *
 * @example
 * ```ts
 * import { acerUpdate, initAcerState } from "@bellman/acer";
 * import { RandomStream, rmspropTf1 } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { qActorCritic } from "@bellman/policies";
 * import { assert } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const model = qActorCritic({
 *   observationSpace: { type: "discrete", n: 2 },
 *   actionSpace: { type: "discrete", n: 2 },
 *   network: "mlp",
 * });
 * const optimizer = rmspropTf1();
 * const params = model.init(new RandomStream(1));
 * const update = acerUpdate(model, { optimizer, numEnvs: 1 });
 * const { stats } = update(initAcerState(params, optimizer), {
 *   observations: model.observationTensor(new Int32Array([0, 1]), 2),
 *   actions: tf.tensor1d([1, 0], "int32"),
 *   rewards: tf.tensor1d([1, 0]),
 *   terminated: tf.tensor1d([0, 0]),
 *   taken: tf.tensor1d([1, 0]),
 *   mu: tf.fill([2, 2], 0.5),
 * }, { learningRate: tf.scalar(7e-4) });
 * assert(stats.grad_norm.arraySync() > 0);
 * ```
 */
export function acerUpdate(
  model: QActorCritic,
  options: AcerUpdateOptions,
): AcerUpdate {
  return updateBy(
    (state, batch) => acerGradients(model, state, batch, options),
    options,
  );
}

/** Makes an update of gradients: clipping, optimizer step and moving average. */
export function updateBy<B extends SegmentRows>(
  gradientsOf: (state: AcerState, batch: B) => AcerGradients,
  options: AcerUpdateOptions,
): AcerUpdate<B> {
  const { optimizer, maxGradNorm = 10, averageDecay = 0.99 } = options;
  return (state, batch, { learningRate }) =>
    tidy(() => {
      const { policy, average } = state;
      const { gradients, statistics, errors } = gradientsOf(state, batch);
      const clipped = clipByGlobalNorm(gradients, maxGradNorm);
      const step = optimizer.apply(policy, clipped.gradients, {
        state: state.slots,
        learningRate,
      });
      const source = options.averageOrder === "before_step"
        ? policy
        : step.params;
      return {
        state: {
          policy: step.params,
          average: polyak(average, source, { tau: 1 - averageDecay }),
          slots: step.state,
        },
        stats: { ...statistics, grad_norm: clipped.norm } as AcerStatistics,
        ...(batch.weights && {
          results: { tdErrors: segmentErrors(errors, batch) },
        }),
      };
    });
}

/**
 * Makes the initial training state: the moving average starts at the parameters.
 *
 * @param params Parameters of the model.
 * @param optimizer Optimizer of the update.
 * @returns Parameters, a copy of them as their average, and optimizer state.
 *
 * @example
 * ```ts
 * import { initAcerState } from "@bellman/acer";
 * import { rmspropTf1 } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const state = initAcerState({ bias: tf.zeros([2]) }, rmspropTf1());
 * assertEquals(Object.keys(state.slots), ["rms/bias"]);
 * ```
 */
export function initAcerState(params: Params, optimizer: Optimizer): AcerState {
  return {
    policy: params,
    average: cloneParams(params),
    slots: optimizer.init(params),
  };
}
