import {
  type Env,
  make,
  makeVec,
  SyncVecEnv,
  VecClipReward,
  type VecEnv,
  VecEnvWrapper,
  VecFlattenObservation,
  VecFrameStack,
  VecNormalizeObservation,
  VecNormalizeReward,
  VecRecordEpisodeStatistics,
} from "@bellman/envs";
import type { RestartEvent } from "@bellman/envs/workers";
import type { ResolvedConfig } from "./config/resolve.ts";
import { isGymnasium, milliseconds } from "./environment_modules.ts";
import { UsageError } from "./usage_error.ts";

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
  /** One environment for evaluation without what is around it, for rendering. */
  single(): Env;
  /** What is around an environment for evaluation, around the caller's own. */
  around(env: Env): VecEnv;
  /** How observations are scaled at present, if they are. */
  scaling(): ObservationScaling | undefined;
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

/** Where copies are hosted. */
interface Hosting {
  /** Modules that register the environment, as absolute URLs. */
  imports: readonly string[];
  /** Takes a line that the user should see. */
  onNotice: (line: string) => void;
  /**
   * Whether agents are only judged: the copies to train on are there for what is
   * around them then, and do not go on from where they were.
   *
   * @default false
   */
  isForJudging?: boolean;
}

/** Copies that do not go on from a snapshot. */
class Unrestored extends VecEnvWrapper {
  /** Leaves them as they are. */
  override restore(): void {}
}

/** Groups of copies where there are some: a run keeps to them anywhere. */
export function groupsOf(
  { vectorization, workers }: ResolvedConfig,
): number | null {
  return vectorization === "sync"
    ? workers
    : workers ?? navigator.hardwareConcurrency;
}

/** The copies to train on, in this thread or beside it. */
async function makeCopies(
  config: ResolvedConfig,
  { imports, onNotice, isForJudging = false }: Hosting,
): Promise<VecEnv> {
  const { env: id, numEnvs, vectorization, envKwargs: kwargs } = config;
  const maxEpisodeSteps = config.maxEpisodeSteps ?? undefined;
  if (isForJudging) {
    return new Unrestored(makeVec(id, { numEnvs, maxEpisodeSteps, kwargs }));
  }
  if (vectorization === "sync") {
    return makeVec(id, { numEnvs, maxEpisodeSteps, kwargs });
  }
  if (isGymnasium(id)) {
    throw new UsageError(
      `Cannot run ${id} with vectorization: ${vectorization}: expected sync, as Python is a process of its own`,
    );
  }
  const { WorkerVecEnv, SubprocessVecEnv, describeRestart } = await import(
    "@bellman/envs/workers"
  );
  const groups = groupsOf(config)!;
  const source = { id, kwargs, maxEpisodeSteps, imports };
  const options = {
    numEnvs,
    stepTimeoutMs: milliseconds(config.stepTimeout),
    onRestart: (event: RestartEvent) => onNotice(describeRestart(event)),
  };
  const copies = vectorization === "workers"
    // This thread is one of them.
    ? new WorkerVecEnv(source, {
      ...options,
      workers: Math.max(1, Math.min(groups, numEnvs) - 1),
      callerShare: groups > 1 && numEnvs > 1,
    })
    : new SubprocessVecEnv(source, {
      ...options,
      processes: Math.min(groups, numEnvs),
    });
  return new VecRecordEpisodeStatistics(copies);
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
  const { env: id, normalizeObservation, frameStack } = config;
  const maxEpisodeSteps = config.maxEpisodeSteps ?? undefined;
  const kwargs = { ...config.envKwargs, ...config.evaluationEnvKwargs };
  const flat = (env: VecEnv): VecEnv =>
    isNested(env) ? new VecFlattenObservation(env) : env;
  const stacked = (env: VecEnv): VecEnv =>
    frameStack > 1 ? new VecFrameStack(env, { size: frameStack }) : env;

  let training = flat(await makeCopies(config, hosting));
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
    evaluation: (numEnvs) =>
      judged(makeVec(id, { numEnvs, maxEpisodeSteps, kwargs })),
    single: () => make(id, { maxEpisodeSteps, kwargs }),
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
