import type { AgentParts, AgentState } from "@bellman/agent";
import {
  discreteQFunction,
  qFunction,
  type StochasticPolicy,
  stochasticPolicy,
  valueFunction,
} from "@bellman/policies";
import type { BoxSpace, DiscreteSpace, Space } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";
import type { SacConfig } from "./config.ts";
import { discreteSacUpdate } from "./discrete_update.ts";
import type { DiscreteSacModel, SacModel } from "./model.ts";
import { initSacState, sacUpdate } from "./update.ts";
import { initSacValueState, sacValueUpdate } from "./value_update.ts";

/** Parts in which the variants of SAC differ. */
export interface SacVariant {
  readonly policy: StochasticPolicy;
  /** Estimates of one Q function. */
  readonly estimate: (
    params: AgentState[""],
    observations: tf.Tensor,
    actions?: tf.Tensor,
  ) => tf.Tensor;
  /** Random inputs of an update, in the order in which they are drawn. */
  readonly noises: readonly string[];
  /** Initializes parameters, target networks and slots. */
  readonly init: AgentParts["init"];
  /** One of the pure updates. */
  readonly update: Update;
}

/** Any of the updates, without the types in which they differ. */
type Update = (
  state: AgentState,
  batch: Readonly<Record<string, tf.Tensor>>,
  hyperparameters: Readonly<Record<string, tf.Scalar>>,
) => {
  state: AgentState;
  stats: Readonly<Record<string, tf.Tensor>>;
  tdErrors: tf.Tensor;
};

/**
 * Makes the variant that settings and spaces ask for: two Q functions and a
 * temperature, a V function, or discrete actions.
 */
export function variantOf(
  config: SacConfig,
  { observationSpace, actionSpace }: {
    observationSpace: Space;
    actionSpace: Space;
  },
): SacVariant {
  const { hiddenSizes, activation, network, initializer } = config;
  const layers = {
    observationSpace,
    network,
    networkOptions: { hiddenSizes, activation },
    initializer,
  };
  switch (actionSpace.type) {
    case "discrete":
      return discreteVariant(config, { ...layers, actionSpace });
    case "box":
      return boxVariant(config, { ...layers, actionSpace });
    default:
      throw new TypeError(
        `Cannot run SAC with actions of type ${actionSpace.type}: expected box or discrete`,
      );
  }
}

/** Networks for spaces. */
interface Layers<S extends Space> {
  readonly observationSpace: Space;
  readonly actionSpace: S;
  readonly network: SacConfig["network"];
  readonly networkOptions: Pick<SacConfig, "hiddenSizes" | "activation">;
  readonly initializer: SacConfig["initializer"];
}

function boxVariant(config: SacConfig, layers: Layers<BoxSpace>): SacVariant {
  const policy = stochasticPolicy({
    ...config,
    ...layers,
    distribution: config.policy,
  });
  const qf = qFunction(layers);
  const estimate = qf.apply as SacVariant["estimate"];
  const between = takesBetween(config) ? ["betweenNoise"] : [];
  if (config.critics === "value") {
    const model = { policy, qf, vf: valueFunction(layers) };
    const { reparameterize } = config;
    return {
      policy,
      estimate,
      noises: ["noise", ...between],
      init: (random) => initSacValueState(model, random),
      update: sacValueUpdate(model, {
        ...config,
        reparameterize: reparameterize ?? undefined,
      }) as unknown as Update,
    };
  }
  const { gamma, targetEntropy } = config;
  const model = { policy, qf };
  return {
    policy,
    estimate,
    noises: ["noise", "nextNoise", ...between],
    init: twinInit(model, config),
    update: sacUpdate(model, {
      gamma,
      targetEntropy: targetEntropy ?? undefined,
    }) as unknown as Update,
  };
}

function discreteVariant(
  config: SacConfig,
  layers: Layers<DiscreteSpace>,
): SacVariant {
  const policy = stochasticPolicy(layers);
  const qf = discreteQFunction(layers);
  const { gamma, targetEntropy } = config;
  const { n, start = 0 } = layers.actionSpace;
  const targetEntropyFactor = targetEntropy === null
    ? config.targetEntropyFactor
    : targetEntropy / Math.log(n);
  const update = discreteSacUpdate({ policy, qf }, {
    gamma,
    targetEntropyFactor,
  }) as unknown as Update;
  return {
    policy,
    estimate: qf.apply,
    noises: [],
    init: twinInit({ policy, qf }, config),
    update: start === 0
      ? update
      : (state, { actions, ...batch }, hyperparameters) =>
        update(
          state,
          { ...batch, actions: tf.sub(actions, tf.scalar(start, "int32")) },
          hyperparameters,
        ),
  };
}

/** Initializes two Q functions, their target networks and a temperature. */
function twinInit(
  model: SacModel | DiscreteSacModel,
  { temperature, initialTemperature }: SacConfig,
): SacVariant["init"] {
  const initialAlpha = temperature === null ? initialTemperature : null;
  return (random) => initSacState(model, random, { initialAlpha });
}

/** True where updates take the observations between the rewards of a return. */
export function takesBetween({ nSteps, nStepEntropy }: SacConfig): boolean {
  return nSteps > 1 && nStepEntropy === "all";
}
