import {
  makeVec,
  type VecEnv,
  VecEnvWrapper,
  VecRecordEpisodeStatistics,
} from "@bellman/envs";
import type { RestartEvent } from "@bellman/envs/workers";
import type { ResolvedConfig } from "./config/resolve.ts";
import { isGymnasium, milliseconds } from "./environment_modules.ts";
import { UsageError } from "./usage_error.ts";

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
export function makeTrainingCopies(
  config: ResolvedConfig,
  hosting: Hosting,
): VecEnv | Promise<VecEnv> {
  const { env: id, numEnvs, vectorization, workers, envKwargs: kwargs } =
    config;
  const { isForJudging = false } = hosting;
  if (vectorization !== "sync" && !isForJudging) {
    return hostCopies(config, hosting);
  }
  if (vectorization === "sync" && workers !== null) {
    throw new UsageError(
      `Cannot use workers: ${workers} with vectorization: sync: expected workers or subprocesses`,
    );
  }
  const maxEpisodeSteps = config.maxEpisodeSteps ?? undefined;
  const copies = makeVec(id, { numEnvs, maxEpisodeSteps, kwargs });
  return isForJudging ? new Unrestored(copies) : copies;
}

/** Copies in threads or processes. */
async function hostCopies(
  config: ResolvedConfig,
  { imports, onNotice }: Hosting,
): Promise<VecEnv> {
  const { env: id, numEnvs, vectorization, envKwargs: kwargs } = config;
  if (isGymnasium(id)) {
    throw new UsageError(
      `Cannot run ${id} with vectorization: ${vectorization}: expected sync, as Python is a process of its own`,
    );
  }
  const { WorkerVecEnv, SubprocessVecEnv, explainRestart } = await import(
    "@bellman/envs/workers"
  );
  const groups = Math.min(groupsOf(config)!, numEnvs);
  const maxEpisodeSteps = config.maxEpisodeSteps ?? undefined;
  const source = { id, kwargs, maxEpisodeSteps, imports };
  const options = {
    numEnvs,
    stepTimeoutMs: milliseconds(config.stepTimeout),
    onRestart: (event: RestartEvent) => onNotice(explainRestart(event)),
  };
  const copies = vectorization === "workers"
    // This thread is one of them.
    ? new WorkerVecEnv(source, {
      ...options,
      workers: Math.max(1, groups - 1),
      callerShare: groups > 1,
    })
    : new SubprocessVecEnv(source, { ...options, processes: groups });
  return new VecRecordEpisodeStatistics(copies);
}
