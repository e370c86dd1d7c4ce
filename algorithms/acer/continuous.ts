import { type Params, valueAndGradients } from "@bellman/compute";
import {
  type ActorCritic,
  addPrefix,
  pickPrefix,
  type QFunction,
} from "@bellman/policies";
import * as tf from "@tensorflow/tfjs";
import {
  explainedVarianceOf,
  lossesOf,
  retraceTargets,
  weightedMean,
} from "./losses.ts";
import {
  type AcerGradients,
  type AcerGradientsOptions,
  type AcerState,
  type AcerUpdate,
  type AcerUpdateOptions,
  type SegmentBatch,
  throughNetwork,
  updateBy,
} from "./update.ts";

/** Clip of log importance ratios, so that their exponentials are finite. */
const LARGEST_LOG_RATIO = 20;

/** Stochastic dueling network: policy, value function and advantages of actions. */
export interface DuelingModel {
  /** Policy and value function; their parameters have no prefix. */
  readonly policy: ActorCritic;
  /**
   * Advantages of actions, from observations or, with a recurrent policy, from the
   * features of its value function; parameters are under `advantage/`.
   */
  readonly advantage: QFunction;
}

/** Segments of actions with any distribution. */
export interface ContinuousAcerBatch extends SegmentBatch {
  /** Sampled actions `[rows, ...actionShape]`. */
  readonly actions: tf.Tensor;
  /** Parameters of the behaviour policy's distributions `[rows, size]`. */
  readonly behaviour: tf.Tensor2D;
  /** Noise of one sampled action for each row `[rows, noise.size]`. */
  readonly noise: tf.Tensor2D;
  /** Noise of the actions of the advantage baseline `[n * rows, noise.size]`. */
  readonly sampleNoise: tf.Tensor2D;
}

/**
 * Makes initial parameters of a dueling model.
 *
 * @param model Policy, value function and advantages.
 * @param random Random stream.
 * @returns Parameters by path.
 *
 * @example
 * ```ts
 * import { initDuelingModel } from "@bellman/acer";
 * import { RandomStream } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { actorCritic, qFunction } from "@bellman/policies";
 * import type { BoxSpace } from "@bellman/types";
 * import { assert } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const space: BoxSpace = { type: "box", shape: [2], low: -1, high: 1, dtype: "float32" };
 * const spaces = { observationSpace: space, actionSpace: space };
 * const policy = actorCritic({ ...spaces, network: "mlp" });
 * const advantage = qFunction(spaces);
 * const params = initDuelingModel({ policy, advantage }, new RandomStream(1));
 * assert("advantage/head/kernel" in params);
 * ```
 */
export function initDuelingModel(
  { policy, advantage }: DuelingModel,
  random: Parameters<ActorCritic["init"]>[0],
): Params {
  return {
    ...policy.init(random),
    ...addPrefix(advantage.init(random), "advantage"),
  };
}

/**
 * Computes the gradients of ACER for any action distribution, such as box and
 * multi-discrete actions, with a stochastic dueling network: `Q(a) = V + A(a) -
 * mean(A(u_i))` with sampled actions `u_i`, which equals `V` in expectation.
 *
 * - Retrace with `min(1, rho^(1/d))` for `Q`, and with 1 in its place, `Qopc`, for the
 *   policy; `d` is the action dimension of a box, else 1
 * - gain of a row: `min(c, rho) (Qopc - V) log f(a) + max(0, 1 - c / rho(a')) (Q(a') -
 *   V) log f(a') + ent_coef H(f)` with a sampled action `a'`
 * - `q_loss = mean((Qret - Q(a))^2 + (V + min(1, rho) (Qret - Q(a)) - V)^2) / 2`, where
 *   only the last `V` has a gradient
 *
 * The trust region applies to the parameters of the distribution: means and log
 * standard deviations, or logits.
 *
 * Source: Wang et al. 2017 (https://arxiv.org/abs/1611.01224), section 5 and algorithm
 * 3.
 *
 * @param model Policy, value function and advantages.
 * @param state Parameters and their average.
 * @param batch Segments.
 * @param options Loss weights and limits.
 * @returns Gradients and statistics.
 *
 * @example
 * ```ts
 * import { continuousAcerGradients, initDuelingModel } from "@bellman/acer";
 * import { RandomStream } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { actorCritic, qFunction } from "@bellman/policies";
 * import type { BoxSpace } from "@bellman/types";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const space: BoxSpace = { type: "box", shape: [1], low: -1, high: 1, dtype: "float32" };
 * const spaces = { observationSpace: space, actionSpace: space };
 * const model = {
 *   policy: actorCritic({ ...spaces, network: "mlp" }),
 *   advantage: qFunction(spaces),
 * };
 * const policy = initDuelingModel(model, new RandomStream(1));
 * const { gradients } = continuousAcerGradients(
 *   model,
 *   { policy, average: policy },
 *   {
 *     observations: tf.zeros([2, 1]),
 *     actions: tf.zeros([2, 1]),
 *     rewards: tf.tensor1d([1, 0]),
 *     terminated: tf.tensor1d([0, 0]),
 *     taken: tf.tensor1d([1, 0]),
 *     behaviour: tf.zeros([2, 2]),
 *     noise: tf.zeros([2, 1]),
 *     sampleNoise: tf.zeros([4, 1]),
 *   },
 *   { numEnvs: 1 },
 * );
 * assertEquals(Object.keys(gradients), Object.keys(policy));
 * ```
 */
export function continuousAcerGradients(
  model: DuelingModel,
  { policy, average }: Pick<AcerState, "policy" | "average">,
  batch: ContinuousAcerBatch,
  options: AcerGradientsOptions,
): AcerGradients {
  const { numEnvs, gamma = 0.99, importanceClip: c = 10 } = options;
  const { entropyCoefficient = 0.01 } = options;
  const { observations, actions, behaviour, taken } = batch;
  const { distribution } = model.policy;
  const isBox = distribution.actionDtype === "float32";
  const size = isBox ? distribution.noise.size : 1;
  const rows = behaviour.shape[0], samples = batch.sampleNoise.shape[0] / rows;
  const mean = weightedMean(batch);
  const run = (params: Params) => {
    const out = model.policy.apply(params, observations, batch);
    return { ...out, x: out.features ?? observations };
  };
  const { policy: statistics, value: values, x } = run(policy);

  // Actions are constants: no gradient flows through samples.
  const tiled = <T extends tf.Tensor>(x: T): T =>
    tf.tile(x, [samples, ...x.shape.slice(1).map(() => 1)]);
  const others = distribution.sample(tiled(statistics), batch.sampleNoise);
  const sampled = distribution.sample(statistics, batch.noise);
  const advantage = (params: Params, x: tf.Tensor, actions: tf.Tensor) =>
    model.advantage.apply(pickPrefix(params, "advantage"), x, actions);
  const aboveBaseline = (params: Params, x: tf.Tensor, actions: tf.Tensor) => {
    const sampleAdvantages = advantage(params, tiled(x), others);
    const baseline = tf.mean(tf.reshape(sampleAdvantages, [samples, rows]), 0);
    return tf.sub(advantage(params, x, actions), baseline);
  };
  const ratioOf = (actions: tf.Tensor) => {
    const log = tf.sub(
      distribution.logProb(statistics, actions),
      distribution.logProb(behaviour, actions),
    );
    const inside = tf.minimum(log, LARGEST_LOG_RATIO);
    return { ratio: tf.exp(inside), trace: tf.exp(tf.div(inside, size)) };
  };
  const taking = ratioOf(actions);
  const qTaken = tf.add<tf.Tensor1D>(values, aboveBaseline(policy, x, actions));
  const trace = { ...batch, qTaken, values };
  const [targets, uncorrected] = [taking.trace, tf.onesLike(values)].map(
    (ratios) =>
      retraceTargets({ ...trace, ratios: ratios as tf.Tensor1D }, {
        numEnvs,
        gamma,
      }),
  );

  const factors = tf.mul(
    tf.minimum(c, taking.ratio),
    tf.sub(uncorrected, values),
  );
  const left = tf.relu(tf.sub(1, tf.div(c, ratioOf(sampled).ratio)));
  const corrections = options.biasCorrection === false
    ? tf.zerosLike(factors)
    : tf.mul(left, aboveBaseline(policy, x, sampled));
  const gainOf = (statistics: tf.Tensor2D) => {
    const gainF = tf.mul(distribution.logProb(statistics, actions), factors);
    const gainBc = tf.mul(
      distribution.logProb(statistics, sampled),
      corrections,
    );
    const entropy = distribution.entropy(statistics);
    return { gainF, gainBc, entropy };
  };
  const { gradients: { statistics: gradient } } = valueAndGradients((it) => {
    const { gainF, gainBc, entropy } = gainOf(it.statistics as tf.Tensor2D);
    const gains = tf.add(
      tf.add(gainF, gainBc),
      tf.mul(entropy, entropyCoefficient),
    );
    return { loss: tf.sum(tf.mul(gains, taken)) as tf.Scalar };
  }, { statistics });

  const errors = tf.sub<tf.Tensor1D>(targets, qTaken);
  const valueTargets = tf.add(
    values,
    tf.mul(tf.minimum(1, taking.ratio), errors),
  );
  const parts = (params: Params) => {
    const { policy: statistics, value, x } = run(params);
    const q = tf.add(value, aboveBaseline(params, x, actions));
    const squares = tf.add(
      tf.squaredDifference(targets, q),
      tf.squaredDifference(valueTargets, value),
    );
    return { statistics, qLoss: tf.mul<tf.Scalar>(mean(squares), 0.5) };
  };
  const gains = gainOf(statistics);
  const losses = lossesOf({
    truncated_loss: tf.neg(mean(gains.gainF)),
    bias_correction_loss: tf.neg(mean(gains.gainBc)),
    q_loss: parts(policy).qLoss,
    entropy: mean(gains.entropy),
    explained_variance: explainedVarianceOf(targets, errors, mean),
  }, options);
  return throughNetwork(policy, {
    losses,
    errors,
    gradient: gradient as tf.Tensor2D,
    k: () => {
      const centre = run(average).policy;
      return valueAndGradients((it) => {
        const now = it.statistics as tf.Tensor2D;
        const divergence = distribution.klDivergence(centre, now);
        return { loss: tf.sum(divergence) as tf.Scalar };
      }, { statistics }).gradients.statistics as tf.Tensor2D;
    },
    parts,
  }, { ...options, rows: batch });
}

/**
 * Makes ACER's update for any action distribution: {@link continuousAcerGradients},
 * clipping, optimizer step and moving average, as one pure function of tensors.
 *
 * @param model Policy, value function and advantages.
 * @param options Optimizer, loss weights and limits.
 * @returns The update.
 *
 * @example
 * ```ts
 * import { continuousAcerUpdate } from "@bellman/acer";
 * import { rmspropTf1 } from "@bellman/compute";
 * import { actorCritic, qFunction } from "@bellman/policies";
 * import type { BoxSpace } from "@bellman/types";
 * import { assertEquals } from "@std/assert";
 *
 * const space: BoxSpace = { type: "box", shape: [1], low: -1, high: 1, dtype: "float32" };
 * const spaces = { observationSpace: space, actionSpace: space };
 * const model = {
 *   policy: actorCritic({ ...spaces, network: "mlp" }),
 *   advantage: qFunction(spaces),
 * };
 * const optimizer = rmspropTf1();
 * const update = continuousAcerUpdate(model, { optimizer, numEnvs: 1 });
 * assertEquals(typeof update, "function"); // of state, batch and learning rate
 * ```
 */
export function continuousAcerUpdate(
  model: DuelingModel,
  options: AcerUpdateOptions,
): AcerUpdate<ContinuousAcerBatch> {
  return updateBy(
    (state, batch) => continuousAcerGradients(model, state, batch, options),
    options,
  );
}
