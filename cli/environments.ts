import {
  type Env,
  makeVec,
  SyncVecEnv,
  VecClipReward,
  type VecEnv,
  VecFlattenObservation,
  VecFrameStack,
  VecNormalizeObservation,
  VecNormalizeReward,
  VecRecordEpisodeStatistics,
} from "@bellman/envs";
import type { ResolvedConfig } from "./config/resolve.ts";

/** The environments of a run: the one it trains on and those that judge it. */
export interface Environments {
  /** Where the agent trains: rewards as the algorithm sees them. */
  training: VecEnv;
  /**
   * An environment for evaluation: the observations are scaled by the training
   * environment's statistics, which stay as they are; rewards are the
   * environment's own.
   */
  evaluation(numEnvs: number): VecEnv;
  /** The same around one environment of the caller's, for rendering. */
  around(env: Env): VecEnv;
}

function isNested(env: VecEnv): boolean {
  const { type } = env.observationSpace;
  return type === "dict" || type === "tuple";
}

/** Makes the environments that a configuration describes. */
export function makeEnvironments(config: ResolvedConfig): Environments {
  const { env: id, normalizeObservation, frameStack } = config;
  const maxEpisodeSteps = config.maxEpisodeSteps ?? undefined;
  const flat = (env: VecEnv): VecEnv =>
    isNested(env) ? new VecFlattenObservation(env) : env;
  const stacked = (env: VecEnv): VecEnv =>
    frameStack > 1 ? new VecFrameStack(env, { size: frameStack }) : env;

  let training = flat(
    makeVec(id, { numEnvs: config.numEnvs, maxEpisodeSteps }),
  );
  if (config.clipReward) training = new VecClipReward(training);
  if (config.normalizeReward) {
    const gamma = typeof config.gamma === "number" ? config.gamma : 0.99;
    training = new VecNormalizeReward(training, { gamma });
  }
  const normalizer = normalizeObservation
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
    evaluation: (numEnvs) => judged(makeVec(id, { numEnvs, maxEpisodeSteps })),
    around: (env) =>
      judged(new VecRecordEpisodeStatistics(new SyncVecEnv([() => env]))),
  };
}
