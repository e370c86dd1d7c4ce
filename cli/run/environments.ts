import {
  make,
  makeVec,
  ObservationNormalizer,
  RewardNormalizer,
  SyncVecEnv,
  VecClipReward,
  VecEnvWrapper,
  VecFlattenObservation,
  VecFrameStack,
  VecNormalizeObservation,
  VecNormalizeReward,
  VecRecordEpisodeStatistics,
} from "@bellman/envs";
import type { Env, Space, VecEnv } from "@bellman/types";
import type { RestartEvent } from "@bellman/envs/workers";
import type { ResolvedConfig } from "../config/resolve.ts";
import { isGymnasium, milliseconds } from "./environment_modules.ts";
import { messageOf, UsageError } from "../terminal/errors.ts";
import { findAlgorithm } from "../config/algorithms.ts";

/** The spaces of an environment: all that acting without it needs. */
export type EnvironmentSpaces = Pick<
  VecEnv,
  "observationSpace" | "actionSpace" | "stackedFrames"
>;

/** A space with one bound where all of a box's elements have it: images are long. */
function compact(space: Space): Space {
  if (space.type !== "box") return space;
  const bound = (values: number | readonly number[]) =>
    typeof values === "object" && new Set(values).size === 1
      ? values[0]
      : values;
  return { ...space, low: bound(space.low), high: bound(space.high) };
}

/** The spaces of an environment, as short as they can be said. */
function spacesOf(
  { observationSpace, actionSpace, stackedFrames }: EnvironmentSpaces,
): EnvironmentSpaces {
  return {
    observationSpace: compact(observationSpace),
    actionSpace: compact(actionSpace),
    ...stackedFrames !== undefined && { stackedFrames },
  };
}

/** Copies of an environment of which the spaces alone are known. */
class KnownSpaces implements VecEnv {
  readonly observationSpace: VecEnv["observationSpace"];
  readonly actionSpace: VecEnv["actionSpace"];
  readonly stackedFrames?: number;

  constructor(readonly numEnvs: number, spaces: EnvironmentSpaces) {
    this.observationSpace = spaces.observationSpace;
    this.actionSpace = spaces.actionSpace;
    this.stackedFrames = spaces.stackedFrames;
  }

  reset = (): never => this.#fail();
  step = (): never => this.#fail();
  save = (): never => this.#fail();
  observations = (): never => this.#fail();

  #fail(): never {
    throw new TypeError(
      "Cannot act in an environment of which the spaces alone are known",
    );
  }

  /** There is nothing to restore. */
  load(): void {}

  /** There is nothing to free. */
  close(): void {}
}

/** Where copies are hosted. */
export interface Hosting {
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
  /**
   * How many copies evaluations are played in, where there are to be some.
   *
   * @default 0
   */
  evaluationCopies?: number;
  /** The environment's spaces, where they are to stand for it. */
  spaces?: EnvironmentSpaces;
}

/** At most this many copies play the episodes of an evaluation side by side. */
const MAX_COPIES = 20;

/** How many copies play the episodes of an evaluation. */
export function copiesFor(episodes: number): number {
  return Math.min(episodes, MAX_COPIES);
}

/** Copies of an environment, of which there may be several sets. */
interface Copies {
  /** To train on; stand-ins where agents are only judged. */
  training: VecEnv;
  /** To evaluate in; hosts are kept until the end, other copies are new ones. */
  evaluation(numEnvs: number): VecEnv;
  /** Ends the copies to train on and the hosts. */
  close(): void;
}

/** What one set of copies is made with. */
interface CopiesOptions {
  numEnvs: number;
  kwargs: ResolvedConfig["envKwargs"];
}

/** Copies that somebody else closes. */
class Kept extends VecEnvWrapper {
  /** Leaves them as they are. */
  override close(): void {}
}

/** Spaces for so many copies, which neither step nor go on from a snapshot. */
class StandIns extends VecEnvWrapper {
  readonly #numEnvs: number;

  constructor(env: VecEnv, numEnvs: number) {
    super(env);
    this.#numEnvs = numEnvs;
  }

  override get numEnvs(): number {
    return this.#numEnvs;
  }

  /** Leaves them as they are. */
  override load(): void {}
}

/** Tells what `close` throws: nothing is left to do then that it could end. */
function closeNeverFails(copies: VecEnv, { onNotice }: Hosting): VecEnv {
  const close = copies.close.bind(copies);
  copies.close = () => {
    try {
      close();
    } catch (error) {
      onNotice(`Cannot close the environment: ${messageOf(error)}`);
    }
  };
  return copies;
}

/** Groups of copies where there are some: a run keeps to them anywhere. */
export function groupsOf(
  { vectorization, workers }: ResolvedConfig,
): number | null {
  return vectorization === "sync"
    ? workers
    : workers ?? navigator.hardwareConcurrency;
}

/** Copies to train on and to evaluate in, in this thread or beside it. */
async function makeCopies(
  config: ResolvedConfig,
  hosting: Hosting,
): Promise<Copies> {
  const { env: id, vectorization, workers, numEnvs, envKwargs } = config;
  if (hosting.spaces !== undefined) {
    const known = new KnownSpaces(numEnvs, hosting.spaces);
    return { training: known, evaluation: () => known, close: () => {} };
  }
  if (vectorization === "sync" && workers !== null) {
    throw new UsageError(
      `Cannot use workers: ${workers} with vectorization: sync: expected workers or subprocesses`,
    );
  }
  const { isForJudging = false, evaluationCopies = 0 } = hosting;
  const maxEpisodeSteps = config.maxEpisodeSteps ?? undefined;
  const evaluationKwargs = { ...envKwargs, ...config.evaluationEnvKwargs };
  const here = (options: CopiesOptions) =>
    closeNeverFails(makeVec(id, { ...options, maxEpisodeSteps }), hosting);
  const isHosted = vectorization !== "sync";
  const host = isHosted ? await copiesHost(config, hosting) : undefined;
  const kept = new Map<number, VecEnv>();
  const evaluation = (numEnvs: number): VecEnv => {
    const options = { numEnvs, kwargs: evaluationKwargs };
    if (host === undefined) return here(options);
    const copies = kept.get(numEnvs) ?? host(options, true);
    kept.set(numEnvs, copies);
    return new Kept(copies);
  };
  const train = (): VecEnv => {
    const options = { numEnvs, kwargs: envKwargs };
    if (!isForJudging) return host ? host(options, false) : here(options);
    const inside = isHosted && evaluationCopies > 0
      ? evaluation(evaluationCopies)
      : here({ ...options, numEnvs: 1 });
    return new StandIns(inside, numEnvs);
  };
  const training = train();
  const close = () => {
    training.close();
    for (const copies of kept.values()) copies.close();
  };
  try {
    // What cannot be evaluated in is told before anything is trained.
    if (isHosted && evaluationCopies > 0) evaluation(evaluationCopies);
  } catch (error) {
    close();
    throw error;
  }
  return { training, evaluation, close };
}

/** What makes copies in threads or processes. */
async function copiesHost(
  config: ResolvedConfig,
  { imports, onNotice }: Hosting,
): Promise<(options: CopiesOptions, isEvaluation: boolean) => VecEnv> {
  const { env: id, vectorization } = config;
  if (isGymnasium(id)) {
    throw new UsageError(
      `Cannot run ${id} with vectorization: ${vectorization}: expected sync, as Python is a process of its own`,
    );
  }
  const { WorkerVecEnv, SubprocessVecEnv, explainRestart } = await import(
    "@bellman/envs/workers"
  );
  const maxEpisodeSteps = config.maxEpisodeSteps ?? undefined;
  return ({ numEnvs, kwargs }, isEvaluation) => {
    const groups = Math.min(groupsOf(config)!, numEnvs);
    const source = { id, kwargs, maxEpisodeSteps, imports };
    const where = isEvaluation ? "Evaluation: " : "";
    const options = {
      numEnvs,
      stepTimeoutMs: milliseconds(config.stepTimeout),
      onRestart: (event: RestartEvent) =>
        onNotice(`${where}${explainRestart(event)}`),
    };
    if (vectorization === "subprocesses") {
      const copies = new SubprocessVecEnv(source, {
        ...options,
        processes: groups,
      });
      return new VecRecordEpisodeStatistics(copies);
    }
    // This thread trains on some of them; it could not give up on an evaluation.
    const callerShare = !isEvaluation && groups > 1;
    const workers = groups - Number(callerShare);
    return new VecRecordEpisodeStatistics(
      new WorkerVecEnv(source, { ...options, workers, callerShare }),
    );
  };
}

/** Scales of observations and rewards that see what training sees. */
interface Normalization {
  observations?: ObservationNormalizer;
  rewards?: RewardNormalizer;
}

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
interface ObservationScaling {
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
  const { hasReplay = false } = findAlgorithm(config.algorithm)!;
  const maxEpisodeSteps = config.maxEpisodeSteps ?? undefined;
  const kwargs = { ...config.envKwargs, ...config.evaluationEnvKwargs };
  // MuJoCo's other engine, of training or of evaluation, has to be imported.
  if ([config.envKwargs, kwargs].some(({ engine }) => engine === "wasm")) {
    await import("@bellman/envs/mujoco/wasm");
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
