import {
  make,
  ObservationNormalizer,
  prepare,
  RewardNormalizer,
  SyncVecEnv,
  VecClipReward,
  VecFlattenObservation,
  VecFrameStack,
  VecNormalizeObservation,
  VecNormalizeReward,
  VecRecordEpisodeStatistics,
} from "@bellman/envs";
import type { Env, VecEnv } from "@bellman/types";
import { ALGORITHMS, type Normalization } from "./algorithms.ts";
import type { ResolvedConfig } from "./config/resolve.ts";
import {
  type EnvironmentSpaces,
  type Hosting,
  makeCopies,
  spacesOf,
} from "./training_copies.ts";

/** The environments of a run: the one it trains on and those that judge it. */
export interface Environments {
  /**
   * Environment that the agent trains on. It scales observations and rewards as
   * configured, but for algorithms with a replay buffer.
   */
  training: VecEnv;
  /** Spaces of the environment's own, without what is around it. */
  spaces: EnvironmentSpaces;
  /** Scales for an algorithm with a replay buffer, which applies them itself. */
  normalization?: Normalization;
  /**
   * An environment for evaluation: observations as in training, scaled by its
   * statistics, which stay as they are; rewards are the environment's own. Where
   * the run has hosts, it has some too.
   */
  evaluation(numEnvs: number): VecEnv;
  /**
   * One environment for evaluation without what is around it, for rendering: in
   * this thread, as hosts send no pictures.
   */
  single(): Env;
  /** What is around an environment for evaluation, around the caller's own. */
  around(env: Env): VecEnv;
  /** How the environments scale observations at present, if they do. */
  scaling(): ObservationScaling | undefined;
  /** Ends what was made here, but for the environments of the caller's own. */
  close(): void;
}

/** Mean and variance of each number of an observation, frames stacked. */
export interface ObservationScaling {
  mean: Float64Array;
  variance: Float64Array;
}

function isNested(env: VecEnv): boolean {
  const { type } = env.observationSpace;
  return type === "dict" || type === "tuple";
}

/**
 * Makes the environments that a configuration describes.
 *
 * @param config The configuration; the environment is known by its id.
 * @param hosting What threads and processes need beside it.
 */
export async function makeEnvironments(
  config: ResolvedConfig,
  hosting: Hosting,
): Promise<Environments> {
  const { env: id, frameStack } = config;
  const { hasReplay = false } = ALGORITHMS[config.algorithm];
  const maxEpisodeSteps = config.maxEpisodeSteps ?? undefined;
  const kwargs = { ...config.envKwargs, ...config.evaluationEnvKwargs };
  // Evaluation may need what training does not, and the other way round.
  if (hosting.spaces === undefined) {
    await prepare(id, { kwargs: config.envKwargs });
    await prepare(id, { kwargs });
  }
  const flat = (env: VecEnv): VecEnv =>
    isNested(env) ? new VecFlattenObservation(env) : env;
  const stacked = (env: VecEnv): VecEnv =>
    frameStack > 1 ? new VecFrameStack(env, { size: frameStack }) : env;

  const copies = await makeCopies(config, hosting);
  let training = flat(copies.training);
  if (config.clipReward) training = new VecClipReward(training);
  const gamma = typeof config.gamma === "number" ? config.gamma : 0.99;
  if (config.normalizeReward && !hasReplay) {
    training = new VecNormalizeReward(training, { gamma });
  }
  const normalizer = config.normalizeObservation && !hasReplay
    ? new VecNormalizeObservation(training)
    : undefined;
  training = stacked(normalizer ?? training);

  const judged = (inner: VecEnv): VecEnv => {
    const env = flat(inner);
    if (normalizer === undefined) return stacked(env);
    const frozen = new VecNormalizeObservation(env, {
      statistics: normalizer.statistics,
      training: false,
    });
    return stacked(frozen);
  };
  return {
    training,
    spaces: spacesOf(copies.training),
    normalization: hasReplay
      ? normalizationOf(config, { env: training, gamma })
      : undefined,
    evaluation: (numEnvs) => judged(copies.evaluation(numEnvs)),
    single: () => make(id, { maxEpisodeSteps, kwargs }),
    close: () => copies.close(),
    around: (env) =>
      judged(new VecRecordEpisodeStatistics(new SyncVecEnv([() => env]))),
    scaling: () => {
      if (normalizer === undefined) return undefined;
      const { mean, variance } = normalizer.statistics;
      const { observationSpace } = normalizer;
      const shape = observationSpace.type === "box"
        ? observationSpace.shape
        : [];
      const last = shape.at(-1) ?? 1;
      return {
        mean: repeated(mean, { length: last, times: frameStack }),
        variance: repeated(variance, { length: last, times: frameStack }),
      };
    },
  };
}

/** Scales for an algorithm that keeps original observations and rewards. */
function normalizationOf(
  config: ResolvedConfig,
  { env, gamma }: { env: VecEnv; gamma: number },
): Normalization {
  const { normalizeObservation, normalizeReward } = config;
  return {
    observations: normalizeObservation
      ? new ObservationNormalizer(env.observationSpace)
      : undefined,
    rewards: normalizeReward
      ? new RewardNormalizer(env.numEnvs, { gamma })
      : undefined,
  };
}

/** Each run of `length` numbers several times, as stacked frames have them. */
function repeated(
  values: ArrayLike<number>,
  { length, times }: { length: number; times: number },
): Float64Array {
  return Float64Array.from(
    { length: values.length * times },
    (_, i) => {
      const run = Math.floor(i / (length * times));
      return values[run * length + i % length];
    },
  );
}
