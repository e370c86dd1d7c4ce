import {
  type A2CBatch,
  a2cLoss,
  type A2CState,
  type A2CStatistics,
  evaluateBatch,
} from "@bellman/a2c";
import {
  clipByGlobalNorm,
  globalNorm,
  type Optimizer,
  type Params,
  sgd,
  tidy,
  valueAndGradients,
} from "@bellman/compute";
import {
  findLayers,
  gaussian,
  Kfac,
  type KfacGradients,
  type KfacLayer,
  type KfacObjective,
  type KfacOptions,
  sampledLogProb,
} from "@bellman/kfac";
import { type ActorCritic, addPrefix, pickPrefix } from "@bellman/policies";
import * as tf from "@tensorflow/tfjs";
import type { AcktrConfig } from "./config.ts";

/** Scheduled hyperparameters of an update, and noise. */
export interface AcktrInputs {
  /** Learning rate. */
  readonly learningRate: tf.Scalar;
  /** Learning rate of the value function; separate objectives only. */
  readonly valueLearningRate: tf.Scalar;
  /** Learning rate of cold updates, as a fraction of the learning rate. */
  readonly coldRatio: tf.Scalar;
  /** Weight of the entropy. */
  readonly entropyCoefficient: tf.Scalar;
  /** Noise of the sampled values `[batch, 1]`. */
  readonly valueNoise: tf.Tensor2D;
  /** Noise of the sampled actions, if they are sampled. */
  readonly actionNoise?: tf.Tensor2D;
}

/** Statistics of an update by name; all scalars. */
export type AcktrStatistics =
  & A2CStatistics
  & Record<"trust_region_factor" | "steps_skipped", tf.Scalar>;

/** Result of an update, in new tensors; its inputs stay valid. */
export interface AcktrUpdateResult {
  /** Parameters and K-FAC state after the update. */
  readonly state: A2CState;
  /** Losses, gradient norm, trust region factor. */
  readonly stats: AcktrStatistics;
  /** 1 for each finite statistic, by the name of the step. */
  readonly results: Record<string, tf.Tensor1D>;
}

/** Natural gradient step of an update, on some of the parameters. */
export interface AcktrStep {
  /** Name in the state: `all`, `policy` or `value`. */
  readonly name: string;
  /** K-FAC optimizer. */
  readonly kfac: Kfac;
  /** Returns true if it updates the parameter of that path. */
  has(path: string): boolean;
}

/** Natural gradient steps of an update, and the pure functions that take them. */
export interface AcktrUpdate {
  /** Natural gradient steps, in the order in which they are taken. */
  readonly steps: readonly AcktrStep[];
  /** Makes the initial training state. */
  init(params: Params): A2CState;
  /** Takes an update that also updates the factors' statistics. */
  readonly apply: AcktrApply;
  /** Takes an update without statistics of the factors, which is cheaper; noise is ignored. */
  readonly applyLight: AcktrApply;
  /** Returns true if the update of that number, from 0, needs statistics of the factors. */
  needsStatistics(update: number): boolean;
}

/** Update as a pure function from one training state to the next. */
export type AcktrApply = (
  state: A2CState,
  batch: A2CBatch,
  inputs: AcktrInputs,
) => AcktrUpdateResult;

/**
 * Lists the layers of an actor-critic, in the order of its parameters.
 *
 * @param model Policy and value function.
 * @param params Parameters of the model, of any values.
 * @returns The layers; log standard deviations and gains belong to none.
 *
 * @example
 * ```ts
 * import { actorCriticLayers } from "@bellman/acktr";
 * import { RandomStream } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { actorCritic } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const model = actorCritic({
 *   observationSpace: { type: "discrete", n: 2 },
 *   actionSpace: { type: "discrete", n: 2 },
 *   network: "mlp",
 *   networkOptions: { hiddenSizes: [] },
 * });
 * const layers = actorCriticLayers(model, model.init(new RandomStream(1)));
 * assertEquals(layers.map(({ kernel }) => kernel), [
 *   "pi/head/kernel",
 *   "vf/head/kernel",
 * ]);
 * ```
 */
export function actorCriticLayers(
  model: ActorCritic,
  params: Params,
): KfacLayer[] {
  const { stateSize, observationShape } = model;
  const float = (...shape: number[]) => ({ shape, dtype: "float32" as const });
  const inputs = {
    x: float(2, ...observationShape),
    state: float(1, stateSize),
    masks: float(2),
  };
  return findLayers((params, { x, state, masks }) => {
    const recurrence = stateSize > 0 ? { state, masks } : undefined;
    return model.apply(params, x, recurrence);
  }, { params, inputs });
}

/**
 * Makes ACKTR's update of a model: A2C's loss with natural gradient steps, as one pure
 * function of tensors, which can be traced and compiled.
 *
 * The Fisher matrix is that of the policy's actions and of values taken as means of
 * normal distributions. Shared objective: one step on the weighted sum. Separate
 * objectives, for networks without common parameters: one step on each, with separate
 * trust regions. Null: separate where possible.
 *
 * Source: Wu et al. 2017 (https://arxiv.org/abs/1708.05144); baselines/acktr.
 *
 * @param model Policy and value function.
 * @param layers Layers of the model, as `actorCriticLayers` finds them.
 * @param options Settings.
 * @returns The update.
 * @throws {RangeError} If a setting lies outside its range.
 *
 * @example
 * ```ts
 * import { actorCriticLayers, acktrUpdate, defaultAcktrConfig } from "@bellman/acktr";
 * import { RandomStream } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { actorCritic } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const model = actorCritic({
 *   observationSpace: { type: "discrete", n: 2 },
 *   actionSpace: { type: "discrete", n: 2 },
 *   network: "mlp",
 * });
 * const params = model.init(new RandomStream(1));
 * const layers = actorCriticLayers(model, params);
 * const update = acktrUpdate(model, layers, defaultAcktrConfig);
 * const { stats } = update.apply(update.init(params), {
 *   observations: model.observationTensor(new Int32Array([0, 1]), 2),
 *   actions: tf.tensor1d([0, 1], "int32"),
 *   advantages: tf.tensor1d([1, -1]),
 *   returns: tf.tensor1d([1, 0]),
 * }, {
 *   learningRate: tf.scalar(0.25),
 *   valueLearningRate: tf.scalar(0.25),
 *   coldRatio: tf.scalar(1),
 *   entropyCoefficient: tf.scalar(0.01),
 *   actionNoise: tf.fill([2, 2], 0.5),
 *   valueNoise: tf.ones([2, 1]),
 * });
 * assertEquals(stats.steps_skipped.arraySync(), 0);
 * ```
 */
export function acktrUpdate(
  model: ActorCritic,
  layers: readonly KfacLayer[],
  options: AcktrConfig,
): AcktrUpdate {
  const { objective, fisherActions, klClip } = options;
  const { noise, distribution } = model;
  // The Fisher information of a log standard deviation is 2. Those of state-dependent
  // exploration share it among the features.
  const information = 2 * distribution.noise.size / noise.size;
  const isNormal = distribution.noise.kind === "normal";
  const ofPolicy: KfacOptions = {
    ...kfacOptions(options),
    ...(isNormal && { diagonal: { "pi/logStd": information } }),
  };
  const valueKlClip = options.valueKlClip ?? klClip;
  const ofValue = kfacOptions({ ...options, klClip: valueKlClip });
  const joint = new Kfac(layers, ofPolicy);
  const apart = layers.every(({ kernel }) => /^(pi|vf)\//.test(kernel));
  const isShared = objective === null ? !apart : objective === "shared";
  const valueCoefficient = isShared ? options.valueCoefficient : 1;
  const steps: AcktrStep[] = isShared
    ? [{ name: "all", kfac: joint, has: () => true }]
    : [["policy", "vf/"], ["value", "pi/"]].map(([name, others]) => {
      const has = (path: string) => !path.startsWith(others);
      const stepLayers = layers.filter(({ kernel }) => has(kernel));
      const kfac = new Kfac(stepLayers, name === "policy" ? ofPolicy : ofValue);
      return { name, kfac, has };
    });
  const pick = ({ has }: AcktrStep, values: Params): Params =>
    Object.fromEntries(Object.entries(values).filter(([path]) => has(path)));
  // The original's (v - sample)^2 is twice the negative log-density of a normal.
  const variance = 1 / (2 * options.valueFisherCoefficient) ** 2;

  const objectiveOf = (
    params: Params,
    batch: A2CBatch,
    { entropyCoefficient, actionNoise, valueNoise }: AcktrInputs,
  ) => {
    const { actions } = batch;
    // Sampled outside the differentiated function.
    const targets = fisherActions === "taken" ? actions : distribution.sample(
      evaluateBatch(model, params, batch).policy,
      actionNoise!,
    );
    return (params: Params) => {
      const { policy, ...inputs } = evaluateBatch(model, params, batch);
      const weights = { entropyCoefficient, valueCoefficient };
      const { loss, ...aux } = a2cLoss(inputs, weights);
      const values = gaussian(inputs.values, { variance });
      const logLikelihood = tf.add(
        distribution.logProb(policy, targets),
        sampledLogProb(values, valueNoise),
      );
      return { loss, aux: { ...aux }, logLikelihood };
    };
  };
  const applying =
    (gradientsOf: typeof lightGradients | Kfac["gradients"]): AcktrApply =>
    ({ policy: params, optimizer }, batch, inputs) =>
      tidy(() => {
        const objective = objectiveOf(params, batch, inputs);
        const { loss, aux, gradients, rows }:
          & Omit<KfacGradients, "rows">
          & Partial<KfacGradients> = gradientsOf(objective, params);
        const taken = steps.map((step) => {
          const learningRate = step.name === "value"
            ? inputs.valueLearningRate
            : inputs.learningRate;
          return step.kfac.apply(pick(step, params), pick(step, gradients), {
            state: pickPrefix(optimizer, step.name),
            learningRate,
            coldLearningRate: tf.mul(learningRate, inputs.coldRatio),
            rows,
          });
        });
        const states = taken.map(({ state }, i) =>
          addPrefix(state, steps[i].name)
        );
        const finite = taken.map((it) => it.finite);
        const names = steps.map(({ name }) => name);
        return {
          state: {
            policy: Object.assign(
              { ...params },
              ...taken.map((it) => it.params),
            ),
            optimizer: Object.assign({}, ...states),
          },
          results: Object.fromEntries(names.map((it, i) => [it, finite[i]])),
          stats: {
            loss,
            policy_loss: aux.policyLoss as tf.Scalar,
            value_loss: aux.valueLoss as tf.Scalar,
            entropy: aux.entropy as tf.Scalar,
            grad_norm: globalNorm(pick(steps[0], gradients)),
            trust_region_factor: taken[0].coefficient,
            steps_skipped: tf.sub(1, tf.min(tf.concat(finite, 0))) as tf.Scalar,
          },
        };
      });
  return {
    steps,
    init: (params) => ({
      policy: params,
      optimizer: steps.reduce((state, step) => {
        const initial = step.kfac.init(pick(step, params));
        return { ...state, ...addPrefix(initial, step.name) };
      }, {}),
    }),
    apply: applying(joint.gradients.bind(joint)),
    applyLight: applying(lightGradients),
    needsStatistics: (update) => steps[0].kfac.needsRows(update),
  };
}

/** Computes loss and gradients without rows of the factors. */
function lightGradients(
  objective: (params: Params) => KfacObjective,
  params: Params,
) {
  return valueAndGradients((params) => {
    const { loss, aux } = objective(params);
    return { loss, aux };
  }, params);
}

/** Translates the settings to K-FAC's: equal names, and others of baselines/acktr. */
function kfacOptions(options: AcktrConfig): KfacOptions {
  const { klClip, klClipKind, kfacForm, maxGradNorm, momentum } = options;
  return {
    ...options,
    others: "gradient",
    form: kfacForm,
    dampingKind: kfacForm === "inverse" ? "factored" : "plain",
    // Keeps the horizon of the moving average in updates, for any interval.
    average: { decay: options.statisticsDecay ** options.covUpdateEvery },
    momentumKind: "averaged",
    trustRegion: klClip === null ? null : { kind: klClipKind, limit: klClip },
    coldOptimizer: clipping(sgd({ momentum }), maxGradNorm),
  };
}

/** Makes an optimizer that clips the gradient norm first. */
function clipping(optimizer: Optimizer, maxNorm: number | null): Optimizer {
  return {
    ...optimizer,
    apply(params, raw, options) {
      const { gradients } = clipByGlobalNorm(raw, maxNorm);
      return optimizer.apply(params, gradients, options);
    },
  };
}
