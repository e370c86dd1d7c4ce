/** Forms of every algorithm: each way that its settings make it learn and act. */
import type { A2CConfig, OnPolicyConfig } from "@bellman/a2c";
import type { AcerConfig } from "@bellman/acer";
import type { AcktrConfig } from "@bellman/acktr";
import {
  Agent,
  type AgentOptions,
  type AgentSpaces,
  type Algorithm,
} from "@bellman/agent";
import type { AsyncConfig } from "@bellman/async";
import { LIVE_ALGORITHMS } from "../testdata/live_algorithms.ts";
import type { DqnConfig } from "@bellman/dqn";
import type { PpoConfig } from "@bellman/ppo";
import type { SacConfig } from "@bellman/sac";
import type { SacV1Config } from "@bellman/sac-v1";
import type { Td3Config } from "@bellman/td3";
import {
  type ACTIONS,
  FRAMES,
  spacesOf,
} from "../../algorithms/agent/testdata/made_up_env.ts";

type Actions = keyof typeof ACTIONS | "frames" | "discrete of frames";
type Forms<Config = object> = Record<
  string,
  [config: Partial<Config>, actions?: Actions, masked?: "masked"]
>;

/** Settings of small networks that soon go round in their buffers. */
const SMALL: Readonly<Record<string, object>> = {
  a2c: { numSteps: 4 } satisfies Partial<A2CConfig>,
  acer: {
    numSteps: 4,
    bufferSize: 16,
    replayStart: 4,
    replayRatio: 1,
  } satisfies Partial<AcerConfig>,
  acktr: {
    numSteps: 4,
    coldUpdates: 1,
    invertEvery: 2,
  } satisfies Partial<AcktrConfig>,
  dqn: {
    bufferSize: 60,
    learningStarts: 8,
    targetInterval: 3,
    tau: 1,
  } satisfies Partial<DqnConfig>,
  ppo: { numSteps: 4, minibatches: 2 } satisfies Partial<PpoConfig>,
  sac: { bufferSize: 60, learningStarts: 8 } satisfies Partial<SacConfig>,
  "sac-v1": { bufferSize: 60, learningStarts: 8 } satisfies Partial<
    SacV1Config
  >,
  td3: { bufferSize: 60, learningStarts: 8 } satisfies Partial<Td3Config>,
  ddpg: { bufferSize: 60, learningStarts: 8 } satisfies Partial<Td3Config>,
  async: {
    targetInterval: 7,
    epsilonSteps: 50,
    maxSteps: 5,
    learningRate: 0.01,
    rmspropEpsilon: 0.1,
  } satisfies Partial<AsyncConfig>,
};

const SEPARATE = { valueNetwork: "separate", objective: "separate" } as const;
const SHARED = { valueNetwork: "shared", objective: "shared" } as const;
const SDE = { useSde: true, sdeSampleFrequency: 3 } as const;

/** Forms that actor-critics of advantages have in common. */
const ACTOR_CRITIC_FORMS: Forms<
  OnPolicyConfig & Pick<A2CConfig, "objective">
> = {
  "discrete actions": [SHARED],
  "actions from 5": [SHARED, "discrete from 5"],
  "box actions": [SHARED, "box"],
  "several discrete actions": [SHARED, "multiDiscrete"],
  "flags": [SHARED, "multiBinary"],
  "lstm": [{ ...SHARED, network: "lstm" }],
  "state-dependent noise": [SDE, "box"],
  "masked actions": [SHARED, "discrete", "masked"],
  "several masked actions, two networks": [
    SEPARATE,
    "multiDiscrete",
    "masked",
  ],
  "masked flags": [SHARED, "multiBinary", "masked"],
};

const A2C_FORMS: Forms<A2CConfig> = {
  ...ACTOR_CRITIC_FORMS,
  "lnlstm with two networks": [
    { network: "lnlstm", valueNetwork: "separate", objective: "shared" },
  ],
  "separate objectives": [{ ...SEPARATE, optimizer: "adam" }],
  "masked actions from 5, lstm": [
    { ...SHARED, network: "lstm" },
    "discrete from 5",
    "masked",
  ],
};

const ACER_FORMS: Forms<AcerConfig> = {
  "discrete actions": [{ qNetwork: "shared" }],
  "actions from 5": [{}, "discrete from 5"],
  "lstm": [{ network: "lstm", qNetwork: "shared" }],
  "lnlstm with two networks": [{ network: "lnlstm", qNetwork: "separate" }],
  "burn-in and zeros": [
    { network: "lstm", burnIn: 2, initialState: "zeros" },
  ],
  "no trust region, no clipping, Adam": [
    { trustRegion: false, maxGradNorm: null, optimizer: "adam" },
  ],
  "no replay": [{ replayRatio: 0 }],
  "box actions": [{ advantageSamples: 3 }, "box"],
  "box actions with lstm": [{ network: "lstm", burnIn: 1 }, "box"],
  "several discrete actions with lnlstm": [
    { network: "lnlstm", qNetwork: "separate", replay: "proportional" },
    "multiDiscrete",
  ],
  "several discrete actions": [{ qNetwork: "shared" }, "multiDiscrete"],
  "flags": [{ replay: "rank" }, "multiBinary"],
  "state-dependent noise": [SDE, "box"],
  "rows for three cuts": [{ truncationsPerSegment: 3 }, "box"],
  "more cuts than rows for them": [
    { numSteps: 8, bufferSize: 32, replayStart: 8, qNetwork: "shared" },
  ],
  "by priorities": [{ replay: "proportional", replayRatio: 3 }],
  "by ranks, box actions": [{ replay: "rank", replayRatio: 3 }, "box"],
  "masked actions": [{ qNetwork: "shared" }, "discrete", "masked"],
  "masked actions from 5, lstm": [
    { network: "lstm" },
    "discrete from 5",
    "masked",
  ],
  "several masked actions": [
    { replay: "proportional" },
    "multiDiscrete",
    "masked",
  ],
  "masked flags": [{}, "multiBinary", "masked"],
};

const ACKTR_FORMS: Forms<AcktrConfig> = {
  "discrete actions": [{ valueNetwork: "shared" }],
  "actions from 5": [{ valueNetwork: "shared" }, "discrete from 5"],
  "actions as they were taken": [
    { valueNetwork: "shared", fisherActions: "taken" },
  ],
  "two networks": [{ valueNetwork: "separate" }],
  "two networks and objectives": [SEPARATE],
  "box actions": [SHARED, "box"],
  "box actions, two objectives": [SEPARATE, "box"],
  "state-dependent noise": [{ ...SHARED, ...SDE }, "box"],
  "several discrete actions": [SHARED, "multiDiscrete"],
  "flags": [SHARED, "multiBinary"],
  "lstm": [{ ...SHARED, network: "lstm" }],
  "lnlstm with two networks": [{ network: "lnlstm", valueNetwork: "separate" }],
  "inverses": [{ ...SHARED, kfacForm: "inverse", klClipKind: "kl" }],
  "ekfac, no clip, no momentum": [{
    ...SHARED,
    kfacForm: "ekfac",
    klClip: null,
    momentum: 0,
    learningRate: 0.01,
  }],
  "rare statistics": [
    { ...SHARED, covUpdateEvery: 2, coldUpdates: 0, maxGradNorm: null },
  ],
  "masked actions": [SHARED, "discrete", "masked"],
  "masked actions, lstm": [
    { ...SHARED, network: "lstm" },
    "discrete",
    "masked",
  ],
  "several masked actions, two objectives": [
    SEPARATE,
    "multiDiscrete",
    "masked",
  ],
  "masked flags": [SHARED, "multiBinary", "masked"],
};

const PPO_FORMS: Forms<PpoConfig> = {
  ...ACTOR_CRITIC_FORMS,
  "lnlstm of short sequences with two networks": [
    { network: "lnlstm", valueNetwork: "separate", sequenceLength: 2 },
  ],
  "separate objectives": [SEPARATE],
  "stopped early, clipped values, advantages as they are": [{
    targetKl: 1e-4,
    clipRangeValue: 0.1,
    normalizeAdvantage: false,
    learningRate: 0.01,
  }],
  "masked actions from 5, lstm of short sequences": [
    { ...SHARED, network: "lstm", sequenceLength: 2 },
    "discrete from 5",
    "masked",
  ],
};

const CATEGORICAL: Partial<DqnConfig> = {
  values: "categorical",
  valueRange: [-2, 2],
};

const DQN_FORMS: Forms<DqnConfig> = {
  "double": [{}],
  "actions from 5, one network chooses, squared errors": [
    { double: false, loss: "mse", tau: 0.5 },
    "discrete from 5",
  ],
  "dueling, several updates at once": [
    { dueling: true, trainFrequency: 3, gradientSteps: -1 },
  ],
  "quantiles, proportional replay of several steps": [
    { values: "quantile", atoms: 5, replay: "proportional", nSteps: 3 },
  ],
  "categorical values, replay by rank": [
    { ...CATEGORICAL, atoms: 5, replay: "rank" },
  ],
  "noise": [{ exploration: "noisy" }],
  "everything": [{
    ...CATEGORICAL,
    atoms: 5,
    dueling: true,
    exploration: "noisy",
    replay: "proportional",
    nSteps: 3,
  }],
  "random actions that are repeated": [
    { initialExploration: "repeated", learningStarts: 48 },
  ],
  "frames that are shared": [
    { network: "cnn_small", bufferSize: 24, batchSize: 2 },
    "discrete of frames",
  ],
  "masked actions": [{}, "discrete", "masked"],
  "masked actions from 5, dueling noise, quantiles": [
    { dueling: true, exploration: "noisy", values: "quantile", atoms: 5 },
    "discrete from 5",
    "masked",
  ],
};

const SAC_FORMS: Forms<SacConfig> = {
  "two Q functions": [{}, "box"],
  "a given temperature": [{ temperature: 0.2 }, "box"],
  "several updates at once": [
    { trainFrequency: 3, gradientSteps: -1 },
    "box",
  ],
  "proportional replay of several steps": [
    { replay: "proportional", nSteps: 3 },
    "box",
  ],
  "replay by rank": [{ replay: "rank" }, "box"],
  "tqc, proportional replay": [
    { method: "tqc", quantiles: 5, replay: "proportional" },
    "box",
  ],
  "crossq": [{ method: "crossq", criticHiddenSizes: [12] }, "box"],
  "crossq, returns of several steps": [
    { method: "crossq", nSteps: 3, policyDelay: 2 },
    "box",
  ],
  "crossq with quantiles and state-dependent noise": [
    { method: "crossq", quantiles: 4, useSde: true },
    "box",
  ],
  "redq": [
    { method: "redq", numCritics: 4, policyDelay: 3, gradientSteps: 2 },
    "box",
  ],
  "droq": [{ method: "droq", policyDelay: 2, gradientSteps: 2 }, "box"],
  "droq with discrete actions": [
    { method: "droq", policyDelay: 2, gradientSteps: 2, numCritics: 3 },
  ],
  "redq with masked actions": [
    { method: "redq", numCritics: 3, policyDelay: 1, gradientSteps: 1 },
    "discrete from 5",
    "masked",
  ],
  "droq of frames": [
    { method: "droq", network: "cnn_small", bufferSize: 24, batchSize: 2 },
    "frames",
  ],
  "state-dependent noise": [{ useSde: true, sdeSampleFrequency: 4 }, "box"],
  "discrete actions": [{ initialExploration: "policy" }],
  "discrete actions, returns of several steps": [{ nSteps: 3 }],
  "random actions that are repeated": [
    { initialExploration: "repeated", learningStarts: 48 },
  ],
  "random box actions that are repeated": [
    { initialExploration: "repeated", learningStarts: 48 },
    "box",
  ],
  "returns that count the last entropy alone": [
    { nSteps: 2, nStepEntropy: "last" },
    "box",
  ],
  "frames that are shared": [
    { network: "cnn_small", bufferSize: 24, batchSize: 2 },
    "frames",
  ],
  "masked actions": [{}, "discrete", "masked"],
  "masked actions from 5, returns of several steps": [
    { nSteps: 3, replay: "rank" },
    "discrete from 5",
    "masked",
  ],
  "random masked actions that are repeated": [
    { initialExploration: "repeated", learningStarts: 48 },
    "discrete from 5",
    "masked",
  ],
};

const SAC_V1_FORMS: Forms<SacV1Config> = {
  "a normal prior": [{ actionPrior: "normal" }, "box"],
  "by likelihood ratio": [{ reparameterize: false }, "box"],
  "a mixture": [{ policy: "mixture" }, "box"],
  "proportional replay of several steps": [
    { actionPrior: "normal", nSteps: 3, replay: "proportional" },
    "box",
  ],
  "returns that count the last entropy alone": [
    { nSteps: 2, nStepEntropy: "last" },
    "box",
  ],
  "random actions that are repeated": [
    { initialExploration: "repeated", learningStarts: 48 },
    "box",
  ],
  "losses as released": [
    {
      policy: "mixture",
      haarnojaPolicyLoss: true,
      haarnojaMixtureGradient: true,
    },
    "box",
  ],
};

const TD3_FORMS: Forms<Td3Config> = {
  "noise of each step": [{}, "box"],
  "noise that is a walk": [{ explorationNoiseType: "ou" }, "box"],
  "proportional replay of several steps": [
    { replay: "proportional", nSteps: 3 },
    "box",
  ],
  "replay by rank": [{ replay: "rank" }, "box"],
  "several updates at once": [
    { trainFrequency: 3, gradientSteps: -1, policyDelay: 3 },
    "box",
  ],
  "three critics, no target noise": [
    { numCritics: 3, targetNoise: 0 },
    "box",
  ],
};

const FORMS: Readonly<Record<string, Forms>> = {
  a2c: A2C_FORMS,
  acer: ACER_FORMS,
  acktr: ACKTR_FORMS,
  dqn: DQN_FORMS,
  ppo: PPO_FORMS,
  sac: SAC_FORMS,
  "sac-v1": SAC_V1_FORMS,
  td3: TD3_FORMS,
  ddpg: TD3_FORMS,
  a3c: {
    "discrete actions": [{}],
    "box actions": [{}, "box"],
    "lstm": [{ network: "lstm" }],
    "masked actions": [{}, "discrete", "masked"],
    "several masked actions, lstm": [
      { network: "lstm" },
      "multiDiscrete",
      "masked",
    ],
  },
};
const PLAIN: Forms = {
  "discrete actions": [{}],
  "masked actions from 5": [{}, "discrete from 5", "masked"],
};

/** One form of an algorithm. */
export interface Form {
  readonly definition: Algorithm;
  /** Name of the algorithm and of the form. */
  readonly name: string;
  readonly config: object;
  readonly spaces: AgentSpaces;
}

/** Returns those of some settings that an algorithm has. */
export function ownOf(
  { meta: { schema } }: Algorithm,
  settings: object,
): object {
  const all = Object.entries(settings);
  return Object.fromEntries(all.filter(([key]) => key in schema.properties));
}

/** Lists the forms of an algorithm, the plainest first. */
export function formsOf(definition: Algorithm): Form[] {
  const { meta: { name, smallConfig }, startWorkers } = definition;
  const isAsync = startWorkers !== undefined;
  return Object.entries(FORMS[name] ?? PLAIN).map((
    [form, [config, actions, masked]],
  ) => ({
    definition,
    name: `${name}, ${form}`,
    config: {
      ...smallConfig,
      ...ownOf(definition, SMALL[isAsync ? "async" : name]),
      ..."network" in config && `${config.network}`.includes("lstm")
        ? { lstmSize: 8 }
        : {},
      ...config,
    },
    spaces: actions === "frames"
      ? FRAMES
      : actions === "discrete of frames"
      ? { ...FRAMES, actionSpace: { type: "discrete", n: 3 } }
      // A worker has one environment.
      : spacesOf(
        actions ?? "discrete",
        isAsync ? 1 : 2,
        masked !== undefined,
      ),
  }));
}

/** Every form of every algorithm. */
export const ALL_FORMS: readonly Form[] = LIVE_ALGORITHMS.flatMap(formsOf);

/** Steps until each form has learned, in the midst of a rollout or window. */
export const STEPS = 22;

/** Makes an agent of a form. */
export function agentOf(
  { definition, spaces, config }: Form,
  options: AgentOptions = {},
): Agent {
  return new Agent(definition, spaces, {
    seed: 3,
    totalTimesteps: 10_000,
    // Compiling takes longer than the few steps of most tests.
    engine: "eager",
    ...options,
    config: { ...config, ...options.config },
  });
}
