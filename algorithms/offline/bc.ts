import { onPolicyModel } from "@bellman/a2c";
import {
  type AgentContext,
  type Algorithm,
  type AnyParts,
  type BuildContext,
  type DataBatch,
  DataMemory,
  type Update,
} from "@bellman/agent";
import {
  adam,
  descend,
  type Optimizer,
  type OptimizerState,
  type Params,
  tidy,
} from "@bellman/compute";
import {
  deterministicPolicy,
  type Distribution,
  functionOptions,
  type Policy,
  type PolicyOutput,
  stochasticPolicy,
} from "@bellman/policies";
import { scheduledOverRun } from "@bellman/schedulers";
import type { BoxSpace } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";
import { judging, STATISTICS } from "./_held_out.ts";
import { type BcConfig, bcConfigSchema } from "./config.ts";

/** Training state of cloning. */
export type BcState = {
  /** Parameters of the policy. */
  policy: Params;
  /** Optimizer state. */
  slots: OptimizerState;
};

/** Inputs of an update. */
export interface BcInputs {
  /** Learning rate. */
  readonly learningRate: tf.Scalar;
}

/** Options of {@linkcode bcUpdate}. */
export interface BcUpdateOptions {
  /**
   * Optimizer.
   *
   * @default adam()
   */
  readonly optimizer?: Optimizer;
  /**
   * Weight of the policy's entropy; deterministic policies have none.
   *
   * @default 0
   */
  readonly entropyCoefficient?: number;
  /**
   * Steps of each sequence of a recurrent policy.
   *
   * @default 1
   */
  readonly numSteps?: number;
}

/** Steps to clone: those of a {@linkcode DataBatch} that cloning needs. */
export type BcBatch =
  & Pick<DataBatch, "observations" | "actions">
  & Partial<DataBatch>
  & {
    /**
     * Recurrent state before each sequence `[sequences, stateSize]`.
     *
     * @default zeros
     */
    readonly state?: tf.Tensor2D;
  };

/** Update as a pure function from one training state to the next. */
export type BcUpdate = Update<BcState, BcBatch, BcInputs>;

/**
 * Makes the update of behavioural cloning as pure functions of tensors: `learn`, and
 * `judge`, which also reports the loss of held-out steps.
 *
 * - `L = -mean(log pi(a|s)) - c mean(H)`, for any policy with log-probabilities
 * - `L = mean((pi(s) - a)^2)` over rows and numbers, for deterministic policies
 *
 * Source: Pomerleau 1991 (https://doi.org/10.1162/neco.1991.3.1.88).
 *
 * @param policy Policy of any actions; recurrent ones learn sequences.
 * @param options Optimizer, entropy, length of sequences.
 * @returns The updates by name.
 *
 * @example
 * ```ts
 * import { adam, RandomStream } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { bcUpdate } from "@bellman/offline";
 * import { stochasticPolicy } from "@bellman/policies";
 * import { assert } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const policy = stochasticPolicy({
 *   observationSpace: { type: "box", shape: [2], low: -1, high: 1, dtype: "float32" },
 *   actionSpace: { type: "discrete", n: 3 },
 * });
 * const params = policy.init(new RandomStream(0));
 * const { learn } = bcUpdate(policy);
 * const batch = {
 *   observations: tf.ones([4, 2]),
 *   actions: tf.tensor1d([0, 1, 2, 0], "int32"),
 * };
 * const state = { policy: params, slots: adam().init(params) };
 * const { stats } = learn(state, batch, { learningRate: tf.scalar(0.001) });
 * assert(stats.loss!.dataSync()[0] > 1);
 * ```
 */
export function bcUpdate(
  policy: Policy,
  options: BcUpdateOptions = {},
): { readonly learn: BcUpdate; readonly judge: BcUpdate } {
  const { optimizer = adam(), entropyCoefficient = 0, numSteps = 1 } = options;
  const { stateSize } = policy;
  const distribution = distributionOf(policy);

  function apply(params: Params, batch: BcBatch): PolicyOutput {
    const { observations, starts: masks, actionMasks } = batch;
    if (stateSize === 0) {
      return policy.apply(params, observations, { actionMasks });
    }
    const sequences = observations.shape[0] / numSteps;
    const { state = tf.zeros<tf.Rank.R2>([sequences, stateSize]) } = batch;
    return policy.apply(params, observations, { state, masks, actionMasks });
  }

  function lossOf(params: Params, batch: BcBatch) {
    const output = apply(params, batch);
    if (distribution === undefined) {
      const wrong = tf.squaredDifference(policy.mode(output), batch.actions);
      return { loss: tf.mean(wrong) as tf.Scalar, output };
    }
    const logProb = distribution.logProb(output.policy, batch.actions);
    const negative = tf.neg(tf.mean(logProb)) as tf.Scalar;
    if (entropyCoefficient === 0) return { loss: negative, output };
    const entropy = tf.mean(distribution.entropy(output.policy));
    const bonus = tf.mul(entropy, entropyCoefficient);
    return { loss: tf.sub(negative, bonus) as tf.Scalar, output };
  }

  const learn: BcUpdate = ({ policy: params, slots }, batch, inputs) => {
    const step = descend(
      (params) => ({ loss: lossOf(params, batch).loss }),
      { params, slots },
      { optimizer, learningRate: inputs.learningRate },
    );
    return {
      state: { policy: step.params, slots: step.slots },
      stats: { loss: step.loss },
    };
  };

  const judge = judging(learn, policy, (params, steps) => {
    const { loss, output } = lossOf(params, steps);
    return { loss, mode: policy.mode(output) };
  });
  return { learn: (...given) => tidy(() => learn(...given)), judge };
}

/** Returns the distributions of a policy; undefined for a deterministic one. */
function distributionOf({ distribution }: Policy): Distribution | undefined {
  return "logProb" in distribution ? distribution as Distribution : undefined;
}

/**
 * Behavioural cloning as an algorithm, for `Agent` and the command line: a policy that
 * acts as the data does. Others go on from its weights.
 */
export const bc: Algorithm<BcConfig> = {
  meta: {
    name: "bc",
    title: "BC",
    summary: "Behavioural cloning of recorded actions (Pomerleau 1991)",
    schema: bcConfigSchema,
    smallConfig: { hiddenSizes: [8], batchSize: 8, numSteps: 4 },
    runDefaults: { numEnvs: 1, normalizeObservation: true },
    statistics: STATISTICS,
    hasReplay: true,
    learnsFromData: true,
    unusedSettings: unusedOf,
  },
  check: checkConfig,
  build: partsOf,
};

function partsOf(config: BcConfig, context: BuildContext): AnyParts {
  const { batchSize, learningRate, learningRateSchedule } = config;
  const policy = policyOf(config, context);
  const numSteps = policy.stateSize > 0 ? config.numSteps : 1;
  checkSequences(batchSize, numSteps);
  const optimizer = adam();
  const { learn, judge } = bcUpdate(policy, { ...config, optimizer, numSteps });
  const params = policy.init(context.random);
  const memory = new DataMemory(context, policy, { batchSize, numSteps });
  const rate = scheduledOverRun(learningRate, {
    ...context,
    schedule: learningRateSchedule,
  });
  return {
    policy,
    memory,
    state: { policy: params, slots: optimizer.init(params) },
    inputs: ({ updates }) => ({ learningRate: rate(updates) }),
    learn: (progress) => memory.judges(progress) ? judge : learn,
  };
}

/** Makes the policy of the algorithm that goes on from the clone. */
function policyOf(config: BcConfig, context: BuildContext): Policy {
  const isActorCritic = config.policy === "actorCritic";
  const { hiddenSizes, activation } = config;
  const layers = {
    ...config,
    hiddenSizes: hiddenSizes ?? (isActorCritic ? [64, 64] : [256, 256]),
    activation: activation ?? (isActorCritic ? "tanh" : "relu"),
  } as const;
  if (isActorCritic) {
    // Neither collects steps nor explores.
    const rest = { useSde: false, sdeSampleFrequency: -1 };
    return onPolicyModel({ ...layers, ...rest }, context, config.actions);
  }
  const { observationSpace, actionSpace } = context;
  const options = { observationSpace, ...functionOptions(layers) };
  return config.policy === "deterministic"
    ? deterministicPolicy({ ...options, actionSpace: actionSpace as BoxSpace })
    : stochasticPolicy({
      ...options,
      actionSpace: actionSpace as BoxSpace,
    });
}

function checkSequences(batchSize: number, numSteps: number): void {
  if (batchSize % numSteps === 0) return;
  throw new RangeError(
    `Cannot run BC with batchSize = ${batchSize} and sequences of numSteps = ${numSteps}: expected a divisor of ${batchSize}`,
  );
}

/** Throws if a policy does not have such actions. */
function checkConfig(
  { policy, actions }: BcConfig,
  { actionSpace: { type } }: AgentContext,
): void {
  if (policy === "deterministic" && type !== "box") {
    throw new TypeError(
      `Cannot run BC with policy: deterministic and actions of type ${type}: expected box actions, or policy: actorCritic`,
    );
  }
  if (policy === "squashed" && type !== "box" && type !== "discrete") {
    throw new TypeError(
      `Cannot run BC with policy: squashed and actions of type ${type}: expected box or discrete ones, or policy: actorCritic`,
    );
  }
  if (actions === "squashed" && type !== "box") {
    throw new TypeError(
      `Cannot run BC with actions: squashed and actions of type ${type}: expected box actions`,
    );
  }
}

/** Lists settings that have no effect given the others. */
function unusedOf({ policy }: BcConfig): Record<string, string> {
  if (policy === "actorCritic") {
    return { initializer: "policy: actorCritic has its own (orthogonalInit)" };
  }
  const why = `policy: ${policy} has none`;
  return {
    ...{ actions: why, valueNetwork: why, initialLogStd: why, lstmSize: why },
    ...{ orthogonalInit: why, numSteps: why },
    ...policy === "deterministic" && { entropyCoefficient: why },
  };
}
