/** Short runs drawn at random. */
import { isXlaInstalled } from "@bellman/compute/xla";
import type { SeededRandom } from "@bellman/envs";
import { RECORDED } from "./recorded.ts";

/** A run: its algorithm and settings. */
export interface DrawnRun {
  algorithm: string;
  settings: Record<string, unknown>;
}

const DRIFT = new URL("./drift_env.ts", import.meta.url).pathname;

/** Environments with a mean return that some evaluations reach. */
const ENVIRONMENTS = {
  "CartPole-v1": { discrete: true, reward: [15, 60] },
  "Acrobot-v1": { discrete: true, reward: [-60, -59] },
  "Pendulum-v1": { discrete: false, reward: [-500, -250] },
  "MountainCarContinuous-v0": { discrete: false, reward: [-3, 0] },
  "Drift-v0": { discrete: false, reward: [-5, 15] },
};
type EnvironmentName = keyof typeof ENVIRONMENTS;

export function pick<T>(random: SeededRandom, values: readonly T[]): T {
  return values[random.integer(values.length)];
}

function between(random: SeededRandom, low: number, high: number): number {
  return low + random.integer(high - low + 1);
}

/** True with a probability. */
function chance(random: SeededRandom, probability: number): boolean {
  return random.uniform() < probability;
}

function drawA2C(
  random: SeededRandom,
  isDiscrete: boolean,
): Record<string, unknown> {
  const isRecurrent = chance(random, 0.3);
  const settings: Record<string, unknown> = {
    totalTimesteps: between(random, 1_000, 4_000),
    numEnvs: between(random, 1, 6),
    numSteps: between(random, 3, 16),
    gaeLambda: pick(random, [1, 0.95]),
    optimizer: pick(random, ["rmsprop_tf1", "rmsprop", "adam", "sgd"]),
    learningRateSchedule: pick(random, ["linear", "constant"]),
    normalizeAdvantage: chance(random, 0.3),
    hiddenSizes: [16],
  };
  if (isRecurrent) {
    settings.network = pick(random, ["lstm", "lnlstm"]);
    settings.lstmSize = 8;
  } else if (chance(random, 0.3)) {
    settings.valueNetwork = "separate";
    settings.objective = pick(random, ["shared", "separate"]);
  }
  if (!isDiscrete && chance(random, 0.4)) settings.useSde = true;
  return settings;
}

/** Settings of what learns from transitions. */
function drawReplay(random: SeededRandom): Record<string, unknown> {
  return {
    totalTimesteps: between(random, 500, 1_200),
    numEnvs: between(random, 1, 3),
    hiddenSizes: [16, 16],
    batchSize: 16,
    learningStarts: between(random, 20, 200),
    bufferSize: pick(random, [300, 2_000]),
    replay: pick(random, ["uniform", "proportional", "rank"]),
    replayStorage: pick(random, ["memory", "file"]),
    nSteps: pick(random, [1, 1, 3]),
    trainFrequency: pick(random, [1, 4]),
    // Instead of presets, which ask for many more updates.
    gradientSteps: pick(random, [1, 2]),
  };
}

/** Algorithms that games are drawn for. */
const PLAYERS = ["a2c", "acer", "acktr", "dqn", "ppo"];

/** Settings of memory, and of boxes. */
const WITHOUT_GAMES = [
  "network",
  "lstmSize",
  "sequenceLength",
  "burnIn",
  "useSde",
];

/** Draws a game against snapshots, and what that excludes. */
function drawGame(random: SeededRandom): Record<string, unknown> {
  const env = pick(random, [
    ...["TicTacToe-v0", "ConnectFour-v0", "PaddleBall-v0", "Soccer-v0"],
  ]);
  const isTimed = env === "PaddleBall-v0" || env === "Soccer-v0";
  return {
    ...{ env, envKwargs: {} },
    maxEpisodeSteps: isTimed ? between(random, 20, 60) : null,
    opponents: {
      window: between(random, 1, 4),
      snapshotEvery: between(random, 50, 400),
      swapEvery: between(random, 10, 100),
      latest: random.uniform(),
      randomMoves: pick(random, [0, 0.2]),
      openings: between(random, 0, 3),
    },
    evaluationOpponent: pick(random, [null, "random"]),
    ...{ loop: "host", vectorization: "sync", workers: null, frameStack: 1 },
    stopReward: null,
  };
}

/** Draws an environment with goals, hindsight, and what these exclude. */
function drawGoals(
  random: SeededRandom,
  isDiscrete: boolean,
): Record<string, unknown> {
  return {
    env: isDiscrete ? "BitFlip-v0" : "Reach-v0",
    envKwargs: isDiscrete ? { bits: between(random, 3, 10) } : {},
    hindsight: {
      strategy: pick(random, ["future", "final", "episode", "random"]),
      k: between(random, 1, 8),
    },
    nSteps: 1,
    replay: "uniform",
    frameStack: 1,
    normalizeObservation: !isDiscrete && chance(random, 0.3),
    policyPlots: false,
  };
}

function drawSac(
  random: SeededRandom,
  isDiscrete: boolean,
): Record<string, unknown> {
  const settings: Record<string, unknown> = {
    ...drawReplay(random),
    // Instead of presets, which ask for forms that exclude drawn ones.
    temperature: null,
    useSde: false,
    method: pick(random, [
      ...["sac", "redq", "droq"],
      ...isDiscrete ? [] : ["tqc", "crossq", "crossq"],
    ]),
    policyDelay: between(random, 1, 3),
  };
  if (!isDiscrete) {
    if (chance(random, 0.3)) settings.useSde = true;
    settings.policyPlots = chance(random, 0.1);
  }
  return settings;
}

function drawSacV1(random: SeededRandom): Record<string, unknown> {
  return {
    ...drawReplay(random),
    policy: pick(random, ["gaussian", "mixture"]),
    policyPlots: chance(random, 0.1),
  };
}

function drawTd3(random: SeededRandom): Record<string, unknown> {
  return {
    ...drawReplay(random),
    explorationNoiseType: pick(random, ["gaussian", "ou"]),
    explorationNoise: 0.3,
    policyDelay: between(random, 1, 3),
    normalization: pick(random, ["none", "layer"]),
    quantiles: pick(random, [null, 5]),
    targetNoise: pick(random, [0, 0.2]),
    policyPlots: chance(random, 0.1),
  };
}

function drawDqn(random: SeededRandom): Record<string, unknown> {
  const values = pick(random, ["mean", "categorical", "quantile"]);
  return {
    ...drawReplay(random),
    ...pick(random, [
      { targetInterval: between(random, 1, 50), tau: 1 },
      { targetInterval: 1, tau: 0.005 },
    ]),
    values,
    valueRange: values === "categorical" ? [-100, 100] : null,
    atoms: null,
    double: chance(random, 0.7),
    dueling: chance(random, 0.5),
    exploration: pick(random, ["epsilon", "noisy"]),
    initialExploration: pick(random, ["uniform", "repeated", "policy"]),
    policyPlots: chance(random, 0.1),
  };
}

function drawAcer(
  random: SeededRandom,
  isDiscrete: boolean,
): Record<string, unknown> {
  const numSteps = between(random, 3, 16);
  const settings: Record<string, unknown> = {
    totalTimesteps: between(random, 1_000, 4_000),
    numEnvs: between(random, 1, 6),
    numSteps,
    bufferSize: numSteps * pick(random, [2, 20]),
    replayStart: numSteps,
    replayRatio: pick(random, [0, 1, 4]),
    trustRegion: chance(random, 0.8),
    qNetwork: pick(random, ["shared", "separate"]),
    replay: pick(random, ["uniform", "proportional", "rank"]),
    replayStorage: pick(random, ["memory", "file"]),
    hiddenSizes: [16],
  };
  if (!isDiscrete && chance(random, 0.3)) settings.useSde = true;
  if (chance(random, 0.4)) {
    settings.network = pick(random, ["lstm", "lnlstm"]);
    settings.lstmSize = 8;
    settings.burnIn = pick(random, [0, 2]);
  }
  return settings;
}

function drawAcktr(
  random: SeededRandom,
  _isDiscrete: boolean,
): Record<string, unknown> {
  const settings: Record<string, unknown> = {
    totalTimesteps: between(random, 1_000, 3_000),
    numEnvs: between(random, 1, 6),
    numSteps: between(random, 3, 16),
    kfacForm: pick(random, ["eigenbasis", "inverse", "ekfac"]),
    fisherActions: pick(random, ["sampled", "taken"]),
    coldUpdates: pick(random, [0, 3]),
    invertEvery: between(random, 1, 4),
    covUpdateEvery: between(random, 1, 3),
    normalizeAdvantage: chance(random, 0.3),
    hiddenSizes: [16],
    valueNetwork: pick(random, ["shared", "separate"]),
    objective: "shared",
  };
  if (settings.valueNetwork === "separate") {
    settings.objective = pick(random, ["shared", "separate"]);
  }
  if (chance(random, 0.3)) {
    settings.network = pick(random, ["lstm", "lnlstm"]);
    settings.lstmSize = 8;
  }
  return settings;
}

/** A loop on the device, and what it lacks. */
const DEVICE = {
  loop: "device",
  vectorization: "sync",
  workers: null,
  frameStack: 1,
  normalizeObservation: false,
  normalizeReward: false,
  clipReward: false,
  useSde: false,
};

function drawPpo(
  random: SeededRandom,
  isDiscrete: boolean,
  env: EnvironmentName,
): Record<string, unknown> {
  const sequenceLength = between(random, 1, 6);
  const settings: Record<string, unknown> = {
    totalTimesteps: between(random, 1_000, 4_000),
    numEnvs: 2 * between(random, 1, 3),
    numSteps: sequenceLength * between(random, 2, 4),
    epochs: between(random, 1, 4),
    minibatches: pick(random, [1, 2]),
    clipRangeSchedule: pick(random, ["linear", "constant"]),
    clipRangeValue: pick(random, [null, 0.2]),
    targetKl: pick(random, [null, 0.003]),
    learningRate: pick(random, [3e-4, 0.01]),
    hiddenSizes: [16],
  };
  if (chance(random, 0.4)) {
    settings.network = pick(random, ["lstm", "lnlstm"]);
    settings.lstmSize = 8;
    settings.sequenceLength = pick(random, [null, sequenceLength]);
  } else if (env !== "Drift-v0" && chance(random, 0.3)) {
    Object.assign(settings, DEVICE);
  }
  const isOnHost = settings.loop === undefined;
  if (!isDiscrete && isOnHost && chance(random, 0.3)) settings.useSde = true;
  return settings;
}

/** Draws workers on shared parameters, whose order makes runs equal. */
function drawAsync(random: SeededRandom): Record<string, unknown> {
  return {
    totalTimesteps: between(random, 500, 1_500),
    numEnvs: 1,
    workers: between(random, 1, 3),
    workerOrder: "fixed",
    stepsPerStop: between(random, 5, 100),
    optimizer: pick(random, ["shared_rmsprop", "rmsprop", "momentum_sgd"]),
    learningRateSchedule: pick(random, ["linear", "constant"]),
    vectorization: pick(random, ["sync", "sync", "subprocesses"]),
    normalizeObservation: false,
    hiddenSizes: [16],
  };
}

function drawA3c(random: SeededRandom): Record<string, unknown> {
  const settings = drawAsync(random);
  settings.maxSteps = between(random, 1, 20);
  if (chance(random, 0.4)) {
    settings.network = pick(random, ["lstm", "lnlstm"]);
    settings.lstmSize = 8;
  } else settings.valueNetwork = pick(random, ["shared", "separate"]);
  return settings;
}

/** Draws a method with a target network. */
function drawAsyncQ(random: SeededRandom): Record<string, unknown> {
  return {
    ...drawAsync(random),
    targetInterval: between(random, 1, 300),
    epsilonSteps: between(random, 1, 1_000),
  };
}

function drawOneStepQ(random: SeededRandom): Record<string, unknown> {
  const updateInterval = between(random, 1, 20);
  return { ...drawAsyncQ(random), updateInterval };
}

function drawNStepQ(random: SeededRandom): Record<string, unknown> {
  const maxSteps = between(random, 1, 20);
  return { ...drawAsyncQ(random), maxSteps };
}

/** Settings of what learns from recorded data alone. */
function drawOffline(random: SeededRandom): Record<string, unknown> {
  return {
    totalTimesteps: between(random, 500, 1_500),
    numEnvs: 1,
    hiddenSizes: [16],
    batchSize: 16,
    holdout: pick(random, [0, 0.1, 0.3]),
    bestFraction: pick(random, [1, 0.5]),
  };
}

function drawBc(
  random: SeededRandom,
  isDiscrete: boolean,
): Record<string, unknown> {
  const settings = drawOffline(random);
  const policies = ["actorCritic", "squashed", "deterministic"];
  settings.policy = pick(random, policies.slice(0, isDiscrete ? 2 : 3));
  if (settings.policy === "actorCritic" && chance(random, 0.4)) {
    settings.network = "lstm";
    settings.lstmSize = 8;
    settings.numSteps = 4;
  }
  return settings;
}

/** Draws recorded data to learn from, and what it excludes. */
function drawData(
  random: SeededRandom,
  isDiscrete: boolean,
): Record<string, unknown> {
  return {
    env: isDiscrete ? "CartPole-v1" : "Pendulum-v1",
    envKwargs: {},
    data: isDiscrete ? RECORDED.discrete : RECORDED.box,
    normalizeObservation: chance(random, 0.7),
    normalizeReward: false,
    clipReward: false,
    frameStack: 1,
  };
}

/** Draws a share of recorded data in replay, and what it excludes. */
function drawDataShare(
  random: SeededRandom,
  isDiscrete: boolean,
): Record<string, unknown> {
  return {
    ...drawData(random, isDiscrete),
    dataShare: pick(random, [0.25, 0.5, 1]),
    ...{ nSteps: 1, replay: "uniform" },
  };
}

/** Draws of an algorithm's own settings, by its name. */
const DRAWS: Readonly<Record<string, typeof drawPpo>> = {
  a2c: drawA2C,
  a3c: drawA3c,
  acer: drawAcer,
  acktr: drawAcktr,
  "async-nstep-q": drawNStepQ,
  "async-q": drawOneStepQ,
  "async-sarsa": drawOneStepQ,
  dqn: drawDqn,
  ppo: drawPpo,
  sac: drawSac,
  "sac-v1": drawSacV1,
  td3: drawTd3,
  ddpg: drawTd3,
  bc: drawBc,
  iql: drawOffline,
};

/** Steps between two of something that happens some times in a run. */
function interval(random: SeededRandom, totalTimesteps: number): number {
  return Math.ceil(totalTimesteps / (1.5 + 6 * random.uniform()));
}

function drawShared(
  random: SeededRandom,
  env: EnvironmentName,
  { totalTimesteps, numEnvs }: { totalTimesteps: number; numEnvs: number },
): Record<string, unknown> {
  const settings: Record<string, unknown> = {
    seed: random.integer(1_000_000),
    maxEpisodeSteps: between(random, 20, 60),
    ...pick<Record<string, unknown>>(random, [
      { engine: "onnx" },
      { engine: "onnx", threads: 1 },
      { engine: "eager", backend: "wasm" },
      // The same draws follow where there is no plugin.
      { engine: isXlaInstalled() ? "xla" : "onnx" },
    ]),
    normalizeObservation: chance(random, 0.3),
    normalizeReward: chance(random, 0.3),
    clipReward: chance(random, 0.1),
    frameStack: pick(random, [1, 1, 1, 3]),
    logInterval: between(random, 1, 600),
    checkpointInterval: interval(random, totalTimesteps),
    keepCheckpoints: between(random, 1, 4),
    evaluationInterval: chance(random, 0.1)
      ? 0
      : interval(random, totalTimesteps),
    evaluationEpisodes: pick(random, [2, 5, 60]),
    evaluationDeterministic: chance(random, 0.7),
  };
  if (numEnvs > 1 && chance(random, 0.5)) {
    settings.vectorization = pick(random, ["workers", "subprocesses"]);
    settings.workers = between(random, 1, 2);
  }
  const early = random.uniform();
  const evaluates = settings.evaluationInterval !== 0;
  if (evaluates && early < 0.25) {
    const [low, high] = ENVIRONMENTS[env].reward;
    settings.stopReward = low + (high - low) * random.uniform();
  } else if (evaluates && early < 0.5) {
    settings.patience = between(random, 1, 2);
  }
  if (env === "Drift-v0") settings.envModules = [DRIFT];
  return settings;
}

/** Algorithms that runs are drawn of. */
export const DRAWN_ALGORITHMS: readonly string[] = Object.keys(DRAWS);

/**
 * Draws a run of a second or two, of an algorithm that is drawn or given.
 *
 * @param random Random numbers.
 * @param options Algorithm and engine, instead of drawn ones.
 */
export function drawRun(
  random: SeededRandom,
  { algorithm = pick(random, DRAWN_ALGORITHMS), engine }: {
    algorithm?: string;
    engine?: string;
  } = {},
): DrawnRun {
  const takesBoxes = !/^async-|^dqn$/.test(algorithm);
  const takesOthers = !/^(sac-v1|td3|ddpg)$/.test(algorithm);
  const names = (Object.keys(ENVIRONMENTS) as EnvironmentName[])
    .filter((it) =>
      it === "Drift-v0" ||
      (ENVIRONMENTS[it].discrete ? takesOthers : takesBoxes)
    );
  const env = pick(random, names);
  let isDiscrete = ENVIRONMENTS[env].discrete;
  const ofEnvironment: Record<string, unknown> = { env };
  if (
    env === "Drift-v0" && takesOthers && (!takesBoxes || chance(random, 0.5))
  ) {
    isDiscrete = true;
    const masked = chance(random, 0.5);
    ofEnvironment.envKwargs = { discreteActions: true, masked };
  }
  const own = DRAWS[algorithm](random, isDiscrete, env);
  const shared = drawShared(
    random,
    env,
    own as { totalTimesteps: number; numEnvs: number },
  );
  const settings: DrawnRun["settings"] = {
    ...ofEnvironment,
    ...shared,
    ...own,
  };
  const hasTransitions = "gradientSteps" in own;
  if (hasTransitions && chance(random, 0.3)) {
    Object.assign(settings, drawGoals(random, isDiscrete));
  }
  if (algorithm === "bc" || algorithm === "iql") {
    Object.assign(settings, drawData(random, isDiscrete));
  } else if (hasTransitions && !settings.hindsight && chance(random, 0.3)) {
    Object.assign(settings, drawDataShare(random, isDiscrete));
  }
  const isGame = PLAYERS.includes(algorithm) && chance(random, 0.2);
  if (isGame && !settings.hindsight && !settings.data) {
    for (const key of WITHOUT_GAMES) delete settings[key];
    Object.assign(settings, drawGame(random));
  }
  if (engine !== undefined) Object.assign(settings, { engine });
  return { algorithm, settings };
}

/** The command line of a run. */
export function argumentsOf({ algorithm, settings }: DrawnRun): string[] {
  return [
    "train",
    algorithm,
    ...Object.entries(settings).map(([key, value]) =>
      `--set=${key}=${JSON.stringify(value)}`
    ),
    "--quiet",
  ];
}
