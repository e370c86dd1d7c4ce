import type { RandomStream } from "@bellman/compute";
import {
  discreteQFunction,
  type FunctionOptions,
  qFunction,
  type ReparameterizedDistribution,
  type StochasticPolicy,
  stochasticPolicy,
  valueFunction,
} from "@bellman/policies";
import type { BoxSpace, DiscreteSpace, Space } from "@bellman/types";
import type * as tf from "@tensorflow/tfjs";
import type { SacConfig } from "./config.ts";
import { discreteSacUpdate } from "./discrete_update.ts";
import type { DiscreteSacModel, SacModel } from "./model.ts";
import { initSacState, sacUpdate } from "./update.ts";
import { initSacValueState, sacValueUpdate } from "./value_update.ts";

/** What the forms of SAC have in common, for an agent. */
export interface SacVariant {
  readonly policy: StochasticPolicy;
  /** Estimates of one Q function, of its parameters without `qf1/`. */
  readonly estimate: (
    params: Parameters<StochasticPolicy["apply"]>[0],
    observations: tf.Tensor,
    actions: tf.Tensor,
  ) => tf.Tensor;
  /** The least discrete action: updates count from 0. */
  readonly firstAction: number;
  /** Which random numbers an update takes. */
  readonly noises: readonly ("noise" | "nextNoise" | "betweenNoise")[];
  /** Makes parameters, target networks and slots. */
  readonly init: (random: RandomStream) => VariantState;
  /** One of the pure updates. */
  readonly update: VariantUpdate;
}

/** The state of any of the updates: parameters of the policy among others. */
export type VariantState = {
  readonly [part: string]: Readonly<Record<string, tf.Tensor>>;
};

/** Any of the updates, without the types of their differences. */
export type VariantUpdate = (
  state: VariantState,
  batch: Readonly<Record<string, tf.Tensor>>,
  hyperparameters: Readonly<Record<string, tf.Tensor>>,
) => {
  state: VariantState;
  stats: Readonly<Record<string, tf.Tensor>>;
  tdErrors: tf.Tensor;
};

/** The form of SAC that a configuration and the spaces ask for. */
export function variantOf(
  config: SacConfig,
  spaces: { observationSpace: Space; actionSpace: Space },
): SacVariant {
  const { observationSpace, actionSpace } = spaces;
  const { hiddenSizes, activation, network, initializer } = config;
  const layers: FunctionOptions = {
    observationSpace,
    network,
    networkOptions: { hiddenSizes, activation },
    initializer,
  };
  if (actionSpace.type === "discrete") {
    return discreteVariant(config, { layers, actionSpace });
  }
  if (actionSpace.type !== "box") {
    throw new TypeError(
      `Cannot run SAC with actions of type ${actionSpace.type}: expected box or discrete`,
    );
  }
  const box = { layers, actionSpace };
  return config.critics === "value"
    ? valueVariant(config, box)
    : twinVariant(config, box);
}

interface BoxLayers {
  readonly layers: FunctionOptions;
  readonly actionSpace: BoxSpace;
}

function boxPolicy(
  config: SacConfig,
  { layers, actionSpace }: BoxLayers,
): StochasticPolicy<ReparameterizedDistribution> {
  return stochasticPolicy({
    ...layers,
    actionSpace,
    distribution: config.policy,
    components: config.components,
    useSde: config.useSde,
    sdeInitialLogStd: config.sdeInitialLogStd,
    squashCorrection: config.squashCorrection,
  });
}

/** Makes the state of two Q functions, their target networks and a temperature. */
function twinState(
  model: SacModel | DiscreteSacModel,
  { temperature, initialTemperature }: SacConfig,
): SacVariant["init"] {
  const initialAlpha = temperature === null ? initialTemperature : null;
  return (random) =>
    initSacState(model, random, { initialAlpha }) as unknown as VariantState;
}

function twinVariant(config: SacConfig, box: BoxLayers): SacVariant {
  const policy = boxPolicy(config, box);
  const qf = qFunction({ ...box.layers, actionSpace: box.actionSpace });
  const { gamma, targetEntropy } = config;
  const update = sacUpdate({ policy, qf }, {
    gamma,
    targetEntropy: targetEntropy ?? undefined,
  });
  return {
    policy,
    estimate: qf.apply as SacVariant["estimate"],
    firstAction: 0,
    noises: ["noise", "nextNoise", ...betweenNoise(config)],
    init: twinState({ policy, qf }, config),
    update: update as unknown as VariantUpdate,
  };
}

function valueVariant(config: SacConfig, box: BoxLayers): SacVariant {
  const policy = boxPolicy(config, box);
  const qf = qFunction({ ...box.layers, actionSpace: box.actionSpace });
  const vf = valueFunction(box.layers);
  const model = { policy, qf, vf };
  const { gamma, actionPrior, policyRegularization, reparameterize } = config;
  const update = sacValueUpdate(model, {
    gamma,
    actionPrior,
    policyRegularization,
    reparameterize: reparameterize ?? undefined,
    haarnojaPolicyLoss: config.haarnojaPolicyLoss,
    haarnojaMixtureGradient: config.haarnojaMixtureGradient,
  });
  return {
    policy,
    estimate: qf.apply as SacVariant["estimate"],
    firstAction: 0,
    noises: ["noise", ...betweenNoise(config)],
    init: (random) =>
      initSacValueState(model, random) as unknown as VariantState,
    update: update as unknown as VariantUpdate,
  };
}

/** Whether updates take the observations between the rewards of a return. */
export function takesBetween({ nSteps, nStepEntropy }: SacConfig): boolean {
  return nSteps > 1 && nStepEntropy === "all";
}

function betweenNoise(config: SacConfig): readonly "betweenNoise"[] {
  return takesBetween(config) ? ["betweenNoise"] : [];
}

/** Rows of an input of the update: of those in between, some for each row. */
export function rowsOf(
  name: string,
  { batchSize, nSteps }: Pick<SacConfig, "batchSize" | "nSteps">,
): number {
  return name.startsWith("between") ? batchSize * (nSteps - 1) : batchSize;
}

function discreteVariant(
  config: SacConfig,
  { layers, actionSpace }: {
    layers: FunctionOptions;
    actionSpace: DiscreteSpace;
  },
): SacVariant {
  const policy = stochasticPolicy({ ...layers, actionSpace });
  const qf = discreteQFunction({ ...layers, actionSpace });
  const count = policy.distribution.parameterSize;
  const targetEntropyFactor = config.targetEntropy === null
    ? config.targetEntropyFactor
    : config.targetEntropy / Math.log(count);
  const update = discreteSacUpdate({ policy, qf }, {
    gamma: config.gamma,
    targetEntropyFactor,
  });
  return {
    policy,
    estimate: (params, observations) => qf.apply(params, observations),
    firstAction: actionSpace.start ?? 0,
    noises: [],
    init: twinState({ policy, qf }, config),
    update: update as unknown as VariantUpdate,
  };
}
