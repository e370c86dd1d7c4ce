import type { Entry } from "./settings.ts";

/** Defaults of TD3 and DDPG. */
const DETERMINISTIC = {
  numEnvs: 1,
  normalizeObservation: false,
  normalizeReward: false,
  learningStarts: 100,
  hiddenSizes: [400, 300],
  explorationNoise: 0,
};

/** Defaults of Stable-Baselines3 for settings that a zoo file omits, if ours differ. */
export const ZOO_DEFAULTS: Readonly<Record<string, Record<string, unknown>>> = {
  a2c: {
    numEnvs: 1,
    normalizeObservation: false,
    normalizeReward: false,
    numSteps: 5,
    gaeLambda: 1,
    entropyCoefficient: 0,
    learningRate: 0.0007,
    learningRateSchedule: "constant",
    optimizer: "rmsprop",
    normalizeAdvantage: false,
    valueNetwork: "separate",
    objective: "shared",
  },
  ppo: {
    numEnvs: 1,
    normalizeObservation: false,
    normalizeReward: false,
    epochs: 10,
    gamma: 0.99,
    gaeLambda: 0.95,
    clipRange: 0.2,
    clipRangeSchedule: "constant",
    clipRangeValue: null,
    normalizeAdvantage: true,
    targetKl: null,
    entropyCoefficient: 0,
    valueCoefficient: 0.5,
    maxGradNorm: 0.5,
    learningRate: 0.0003,
    learningRateSchedule: "constant",
    adamEpsilon: 1e-5,
    valueNetwork: "separate",
    objective: "shared",
    lstmSize: 256,
    actions: "gaussian",
  },
  td3: DETERMINISTIC,
  ddpg: DETERMINISTIC,
  dqn: {
    numEnvs: 1,
    normalizeObservation: false,
    normalizeReward: false,
    double: false,
    learningRate: 1e-4,
    learningRateSchedule: "constant",
    bufferSize: 1_000_000,
    learningStarts: 100,
    batchSize: 32,
    trainFrequency: 4,
    targetInterval: 2500,
    tau: 1,
    explorationFraction: 0.1,
    finalEpsilon: 0.05,
    hiddenSizes: [64, 64],
  },
};

/** Defaults of sb3-contrib for QR-DQN, by the names of zoo files. */
export const QUANTILES: readonly Entry[] = [
  ["values", "quantile"],
  ["atoms", 200],
  ["learning_rate", 5e-5],
  ["targetInterval", 2500],
  ["tau", 1],
  ["exploration_fraction", 0.005],
  ["exploration_final_eps", 0.01],
  ["max_grad_norm", null],
];
