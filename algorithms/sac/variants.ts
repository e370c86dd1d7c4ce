import {
  type AgentContext,
  type AgentParts,
  type AgentState,
  replay,
  type Tensors,
  type UpdateResult,
} from "@bellman/agent";
import {
  discreteQFunction,
  type FunctionOptions,
  qFunction,
  scope,
  type StochasticPolicy,
  stochasticPolicy,
  valueFunction,
} from "@bellman/policies";
import type { BoxSpace, DiscreteSpace, Space } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";
import type { SacConfig } from "./config.ts";
import { discreteSacUpdate, initSacState, sacUpdate } from "./update.ts";
import type {
  SacHyperparameters,
  SacUpdate,
  SacUpdateResult,
} from "./model.ts";
import { initSacValueState, sacValueUpdate } from "./value_update.ts";

/** Parts of an agent in which the variants of SAC differ. */
export type SacVariant = Pick<
  AgentParts<StochasticPolicy>,
  "policy" | "experience" | "init" | "update" | "updateNoise" | "actionValues"
>;

/**
 * Makes the variant that settings and spaces ask for: two Q functions and a
 * temperature, a V function, or discrete actions.
 */
export function variantOf(
  config: SettledConfig,
  { observationSpace, actionSpace }: AgentContext,
): SacVariant {
  const { hiddenSizes, activation, network, initializer } = config;
  const networkOptions = { hiddenSizes, activation };
  const layers = { observationSpace, network, networkOptions, initializer };
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

/** Settings of which none depends on the kind of actions any more. */
export interface SettledConfig extends SacConfig {
  learningRate: number;
  batchSize: number;
  learningStarts: number;
  initialTemperature: number;
  initialExploration: NonNullable<SacConfig["initialExploration"]>;
}

/**
 * Fills in the settings whose defaults depend on the kind of actions, and on
 * the length of the run.
 */
export function settledConfig(
  config: SacConfig,
  { actionSpace, totalTimesteps }: AgentContext,
): SettledConfig {
  const usual = actionSpace.type === "discrete"
    ? {
      ...DISCRETE,
      learningStarts: Math.max(
        1,
        Math.min(5000, config.bufferSize, Math.floor(totalTimesteps / 4)),
      ),
    }
    : BOX;
  return {
    ...config,
    learningRate: config.learningRate ?? usual.learningRate,
    batchSize: config.batchSize ?? usual.batchSize,
    learningStarts: config.learningStarts ?? usual.learningStarts,
    initialTemperature: config.initialTemperature ?? usual.initialTemperature,
    initialExploration: config.initialExploration ?? usual.initialExploration,
  };
}

const BOX = {
  learningRate: 3e-4,
  batchSize: 256,
  learningStarts: 100,
  initialTemperature: 1,
  initialExploration: "uniform",
} as const;
const DISCRETE = {
  learningRate: 1e-3,
  batchSize: 64,
  initialTemperature: 0.02,
  initialExploration: "repeated",
} as const;

type Layers<S extends Space> = FunctionOptions & { readonly actionSpace: S };

function boxVariant(
  config: SettledConfig,
  layers: Layers<BoxSpace>,
): SacVariant {
  const policy = stochasticPolicy({
    ...config,
    ...layers,
    distribution: config.policy,
  });
  const model = { policy, qf: qFunction(layers) };
  if (config.critics === "value") {
    const valueModel = { ...model, vf: valueFunction(layers) };
    return assemble(config, {
      ...model,
      noises: ["noise"],
      init: (random) => initSacValueState(valueModel, random),
      update: sacValueUpdate(valueModel, {
        ...config,
        reparameterize: config.reparameterize ?? undefined,
      }),
    });
  }
  return assemble(config, {
    ...model,
    noises: ["noise", "nextNoise"],
    init: (random) => initSacState(model, random, alphaOf(config)),
    update: sacUpdate(model, {
      gamma: config.gamma,
      targetEntropy: config.targetEntropy ?? undefined,
    }),
  });
}

function discreteVariant(
  config: SettledConfig,
  layers: Layers<DiscreteSpace>,
): SacVariant {
  const model = {
    policy: stochasticPolicy(layers),
    qf: discreteQFunction(layers),
  };
  const { gamma, targetEntropy } = config;
  const { n, start } = layers.actionSpace;
  const targetEntropyFactor = targetEntropy === null
    ? config.targetEntropyFactor
    : targetEntropy / Math.log(n);
  return assemble(config, {
    ...model,
    firstAction: start,
    init: (random) => initSacState(model, random, alphaOf(config)),
    update: discreteSacUpdate(model, { gamma, targetEntropyFactor }),
  });
}

/** Chooses the temperature that learning starts from: none where it is given. */
const alphaOf = ({ temperature, initialTemperature }: SettledConfig) => ({
  initialAlpha: temperature === null ? initialTemperature : null,
});

/** Makes a variant of networks and one of the pure updates. */
function assemble(
  config: SettledConfig,
  { policy, qf, noises = [], firstAction = 0, init, update }: {
    policy: StochasticPolicy;
    qf: { apply(params: Tensors, x: tf.Tensor, actions: tf.Tensor): tf.Tensor };
    /** Noises of the actions that the update samples. */
    noises?: readonly string[];
    /** Smallest discrete action: the update counts from 0. */
    firstAction?: number;
    init: SacVariant["init"];
    update: (
      ...given: never
    ) => SacUpdateResult<AgentState, UpdateResult["stats"]>;
  },
): SacVariant {
  const { batchSize, nSteps } = config;
  // Updates take the observations between the rewards of a return.
  const between = nSteps > 1 && config.nStepEntropy === "all";
  const noise = policy.distribution.noise;
  const updateNoise = Object.fromEntries(
    noises.map((name) => [name, { ...noise, rows: batchSize }]),
  );
  if (between && noises.length > 0) {
    updateNoise.betweenNoise = { ...noise, rows: batchSize * (nSteps - 1) };
  }
  const step = update as SacUpdate<Tensors, AgentState, Tensors>;
  return {
    policy,
    experience: replay({ ...config, between }),
    init,
    update(state, given, numbers) {
      const { actions, observations, nextObservations } = given;
      const { tdErrors, ...result } = step(state, {
        ...given,
        observations: policy.encode(observations),
        nextObservations: policy.encode(nextObservations),
        ...(between && {
          betweenObservations: policy.encode(given.betweenObservations),
        }),
        actions: firstAction === 0
          ? actions
          : tf.sub(actions, tf.scalar(firstAction, "int32")),
        terminated: tf.cast(given.terminated, "float32"),
      }, numbers as unknown as SacHyperparameters);
      return { ...result, results: { tdErrors } };
    },
    updateNoise,
    actionValues: {
      part: "critics",
      estimate: (critics, observations, actions) =>
        qf.apply(scope(critics, "qf1"), observations, actions!),
    },
  };
}
