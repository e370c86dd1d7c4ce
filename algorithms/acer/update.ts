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

/** Segments as any update takes them; rows are `env * rowsOfAnEnv + row`. */
export interface SegmentBatch extends SegmentRows {
  /** Encoded observations `[rows, ...observationShape]`. */
  readonly observations: tf.Tensor;
  /** Recurrent models only: state before the first row `[numEnvs, stateSize]`. */
  readonly state?: tf.Tensor2D;
  /** Recurrent models only: 1 where an episode starts at the row `[rows]`. */
  readonly masks?: tf.Tensor1D;
  /** 1 where a choice is allowed `[rows, distribution.masking.size]`; with masks only. */
  readonly actionMasks?: tf.Tensor2D;
}

/** Segments of discrete actions. */
export interface AcerBatch extends AcerRows, SegmentBatch {}

/** Everything that an update changes. */
export type AcerState = {
  /** Parameters of policy and Q function. */
  policy: Params;
  /** Their moving average: the centre of the trust region. */
  average: Params;
  /** Slots of the optimizer. */
  slots: OptimizerState;
};

/**
 * Statistics of an update, all scalars. Those of the gradients' parts need a trust
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
  /** Losses and norms of the parameters before it. */
  stats: AcerStatistics;
  /** Mean `|qret - q|` of each segment, where segments have weights. */
  results?: { readonly tdErrors: tf.Tensor1D };
}

/** Hyperparameters that change from update to update, as tensors. */
export interface AcerInputs {
  /** Learning rate of this update. */
  readonly learningRate: tf.Scalar;
}

/** A pure function from one state to the next. */
export type AcerUpdate<B = AcerBatch> = (
  state: AcerState,
  batch: B,
  inputs: AcerInputs,
) => AcerUpdateResult;

/** Options of {@link acerGradients}. */
export interface AcerGradientsOptions extends AcerLossOptions {
  /**
   * True where the policy's gradient is projected into the trust region.
   *
   * @default true
   */
  readonly trustRegion?: boolean;
  /**
   * Largest divergence from the average policy along the gradient.
   *
   * @default 1
   */
  readonly delta?: number;
  /**
   * True where the norms of the policy's and of the Q function's part are among
   * the statistics: false saves one of two products with the network's Jacobian.
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
   * Global norm that gradients are clipped to; null for no clipping.
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
   * Parameters that enter the moving average: those after the step, or those before
   * it, as most variables of the released graph did.
   *
   * @default "after_step"
   */
  readonly averageOrder?: "after_step" | "before_step";
}

/** Gradients of an update before they are clipped, and statistics. */
export interface AcerGradients {
  /** Gradient for each parameter, by path. */
  readonly gradients: Params;
  /** Losses, and norms of parts of the gradient. */
  readonly statistics: Omit<AcerStatistics, "grad_norm">;
  /** Differences of the taken actions' values from their targets `[rows]`. */
  readonly errors: tf.Tensor1D;
}

/**
 * Computes the gradients of ACER for a model: those of the policy, projected into
 * the trust region, plus those of `q_coef q_loss`.
 *
 * @param model Policy and Q function.
 * @param state Parameters and their average.
 * @param batch Segments.
 * @param options Weights and limits.
 * @returns Gradients and statistics.
 *
 * @example
 * ```ts
 * import { acerGradients } from "@bellman/acer";
 * import { RandomStream } from "@bellman/compute";
 * import { qActorCritic } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
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

/** An update as functions of the parameters. */
export interface NetworkGradients {
  /** Losses, for the log. */
  readonly losses: AcerLosses;
  /** Differences of the taken actions' values from their targets `[rows]`. */
  readonly errors: tf.Tensor1D;
  /** Gradient of each row's gain with respect to the policy's statistics, `g`. */
  readonly gradient: tf.Tensor2D;
  /** Gradient of the divergence from the average policy with respect to them. */
  k(): tf.Tensor2D;
  /** Computes these statistics `[rows, n]` and the loss of the Q function. */
  parts(params: Params): {
    readonly statistics: tf.Tensor2D;
    readonly qLoss: tf.Tensor;
  };
}

/** Projects the policy's gradient, and takes both gradients to the parameters. */
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
 * Builds ACER's update for a model: losses, projection, gradients, clipping, step
 * and average, as one pure function of tensors, which can be traced.
 *
 * Source: Wang et al. 2017 (https://arxiv.org/abs/1611.01224), algorithm 2;
 * `Model` of baselines/acer/acer.py.
 *
 * @param model Policy and Q function.
 * @param options Optimizer, weights and limits.
 * @returns The update.
 *
 * @example
 * ```ts
 * import { acerUpdate, initAcerState } from "@bellman/acer";
 * import { RandomStream, rmspropTf1 } from "@bellman/compute";
 * import { qActorCritic } from "@bellman/policies";
 * import { assert } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
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

/** Builds an update from its gradients: clipping, step and average. */
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
 * Initializes the state of an update: the average starts at the parameters.
 *
 * @param params Parameters of the model.
 * @param optimizer Optimizer of the update.
 * @returns Parameters, a copy of them as their average, and slots.
 *
 * @example
 * ```ts
 * import { initAcerState } from "@bellman/acer";
 * import { rmspropTf1 } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
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
