/** What the page offers to train: environments, algorithms, and settings that learn soon. */

/** Settings of a run that differ from the algorithm's defaults. */
export interface Preset extends Readonly<Record<string, unknown>> {
  readonly totalTimesteps: number;
  readonly learningRate: number;
  readonly gamma: number;
  /** Environment steps between two evaluations. */
  readonly evaluationInterval: number;
}

/** Environment that is learned. */
export interface Task {
  /** One sentence for people who do not know it. */
  readonly about: string;
  /** Mean return of a policy that has learned nothing, about. */
  readonly beginner: number;
  /** Mean return of an evaluation that ends the run: it counts as learned. */
  readonly goal: number;
  /** Settings by the algorithm's name. */
  readonly presets: Readonly<Record<string, Preset>>;
}

/** Algorithms and their titles. */
export const ALGORITHMS: Readonly<Record<string, string>> = {
  ppo: "proximal policy optimization",
  a2c: "advantage actor-critic",
  sac: "soft actor-critic",
  dqn: "deep Q-learning",
};

/** Settings with a field of their own, besides the seed. */
export const MAIN_SETTINGS = [
  "learningRate",
  "gamma",
  "totalTimesteps",
] as const;

/** Pixels of a picture of a run. */
export const PICTURE = { width: 450, height: 300 };

const COMMON = {
  evaluationEpisodes: 10,
  normalizeObservation: true,
  normalizeReward: true,
};

/** Settings of A2C with a network and an optimizer for the values. */
const A2C = {
  ...COMMON,
  numEnvs: 8,
  numSteps: 8,
  gaeLambda: 0.95,
  normalizeAdvantage: true,
  objective: "separate",
  learningRate: 0.003,
  valueNetwork: "separate",
  optimizer: "rmsprop_tf1",
};

/** Settings of PPO with short rollouts. */
const PPO = {
  ...COMMON,
  numEnvs: 8,
  numSteps: 32,
  epochs: 4,
  minibatches: 1,
  learningRate: 0.003,
  valueNetwork: "separate",
};

/** Settings of DQN: an update for two steps. */
const DQN = {
  ...COMMON,
  numEnvs: 4,
  gradientSteps: 2,
  batchSize: 64,
  bufferSize: 50_000,
  hiddenSizes: [64, 64],
  nSteps: 3,
  gamma: 0.99,
  learningRate: 0.001,
  tau: 0.01,
  explorationFraction: 0.2,
  learningStarts: 500,
};

/**
 * Tasks by environment. Goals are the environments' reward thresholds; Pendulum-v1 has
 * none. Updates are short, so that the picture does not stop for them, and each preset
 * reaches its goal with the seeds 0 to 4 in less than a minute of one core.
 */
export const TASKS: Readonly<Record<string, Task>> = {
  "CartPole-v1": {
    about:
      "Balance the pole by pushing the cart: 1 for each step, at most 500.",
    beginner: 0,
    goal: 475,
    presets: {
      ppo: {
        ...PPO,
        totalTimesteps: 50_000,
        evaluationInterval: 1000,
        gamma: 0.99,
      },
      a2c: {
        ...A2C,
        totalTimesteps: 40_000,
        evaluationInterval: 1000,
        normalizeObservation: false,
        normalizeReward: false,
        gamma: 0.98,
        normalizeAdvantage: false,
        entropyCoefficient: 0.001,
        maxGradNorm: 0.3,
        learningRate: 0.004,
        valueLearningRate: 0.012,
        hiddenSizes: [64],
        optimizer: "rmsprop",
      },
      dqn: {
        ...DQN,
        totalTimesteps: 30_000,
        evaluationInterval: 500,
        finalEpsilon: 0.1,
      },
    },
  },
  "Acrobot-v1": {
    about:
      "Swing the tip of two links above the line: -1 for each step until then.",
    beginner: -500,
    goal: -100,
    presets: {
      ppo: {
        ...PPO,
        totalTimesteps: 100_000,
        evaluationInterval: 2000,
        gamma: 0.99,
        entropyCoefficient: 0,
      },
      a2c: {
        ...A2C,
        totalTimesteps: 100_000,
        evaluationInterval: 4000,
        gamma: 0.99,
        entropyCoefficient: 0,
        valueLearningRate: null,
      },
      dqn: {
        ...DQN,
        totalTimesteps: 40_000,
        evaluationInterval: 2000,
        learningStarts: 1000,
      },
    },
  },
  "MountainCarContinuous-v0": {
    about:
      "Drive up the hill, with too little power unless the car swings: 100 at the top, less what the engine takes.",
    beginner: -50,
    goal: 90,
    presets: {
      ppo: {
        ...PPO,
        totalTimesteps: 40_000,
        evaluationInterval: 2000,
        numSteps: 128,
        minibatches: 2,
        gamma: 0.995,
        gaeLambda: 0.99,
        learningRate: 0.001,
        entropyCoefficient: 0,
        useSde: true,
        sdeSampleFrequency: -1,
        orthogonalInit: false,
      },
    },
  },
  "Pendulum-v1": {
    about:
      "Swing the pendulum up and hold it there: a penalty for the angle, at most 0.",
    beginner: -1500,
    goal: -200,
    presets: {
      ppo: {
        ...PPO,
        totalTimesteps: 100_000,
        evaluationInterval: 4000,
        numSteps: 64,
        epochs: 5,
        minibatches: 4,
        gamma: 0.95,
        gaeLambda: 0.95,
        learningRate: 0.001,
        entropyCoefficient: 0,
        activation: "relu",
      },
      sac: {
        evaluationEpisodes: 10,
        totalTimesteps: 10_000,
        evaluationInterval: 500,
        numEnvs: 1,
        gamma: 0.98,
        hiddenSizes: [64, 64],
        batchSize: 64,
        learningRate: 0.003,
        tau: 0.02,
        learningStarts: 500,
      },
    },
  },
};
