import type { StateTree, VecEnv } from "@bellman/types";
import type { Callback } from "./callbacks.ts";
import type { CheckpointNotes, CheckpointStore } from "./checkpoint_store.ts";
import type { Hyperparameters, Logger } from "./logs/logger.ts";
import type { ProgressReporter, ProgressState } from "./progress.ts";

/**
 * Evaluation during training: at every interval and at the end, so that the last policy
 * is a candidate for the best. An interrupted run has no final evaluation until it is
 * resumed.
 */
export interface EvaluationOptions {
  /** Evaluation environment; reset with `seed` at each evaluation. */
  env: VecEnv;
  /**
   * Environment steps between evaluations; `Infinity` turns all of them off.
   *
   * @default a twentieth of totalTimesteps; 50,000 if that is infinite
   */
  everyTimesteps?: number;
  /**
   * Number of episodes of an evaluation.
   *
   * @default 10
   */
  episodes?: number;
  /**
   * Step limit: longer episodes are cut, and counted in the result.
   *
   * @default the environment's limit, or 10,000 if it has none
   */
  maxSteps?: number;
  /**
   * Take the most likely action instead of sampling one.
   *
   * @default true
   */
  deterministic?: boolean;
  /**
   * Seed of each evaluation: all start from the same states, so they are comparable.
   *
   * @default evaluationSeeds(seed of training).during, which is 10000
   */
  seed?: number;
}

/** Checkpoints during training. */
export interface CheckpointOptions {
  /** Checkpoint store. */
  store: CheckpointStore;
  /**
   * Environment steps between checkpoints. One is always written before the first step,
   * and one at the end.
   *
   * @default Infinity
   */
  everyTimesteps?: number;
  /**
   * Number of checkpoints to keep. The best one is kept too, in two copies unless
   * `everyTimesteps` is `Infinity`: as `best` and under its step.
   *
   * @default 3
   */
  keepLast?: number;
  /**
   * Plain values saved in each checkpoint; the name `logs` is reserved.
   *
   * @default {}
   */
  notes?: CheckpointNotes;
}

/** Options of {@link train}. */
export interface TrainOptions {
  /** Environment steps, over all environments, after which training ends. */
  totalTimesteps: number;
  /**
   * Seed of the environment's first reset. Ignored on a resume.
   *
   * @default the environment's own
   */
  seed?: number;
  /**
   * Environment steps between log rows. The first update and the end are always logged.
   *
   * @default a hundredth of totalTimesteps; 10,000 if that is infinite
   */
  logInterval?: number;
  /**
   * Number of last episodes that `rollout/return_mean` and `rollout/length_mean`
   * average.
   *
   * @default 100
   */
  episodeWindow?: number;
  /**
   * Loggers of the statistics. Closed when training ends.
   *
   * @default []
   */
  loggers?: readonly Logger[];
  /**
   * Settings for loggers that show them, when the run begins.
   *
   * @default {}
   */
  hyperparameters?: Hyperparameters;
  /**
   * Callbacks, which may end the run.
   *
   * @default []
   */
  callbacks?: readonly Callback[];
  /** Evaluation during training; none by default. */
  evaluation?: EvaluationOptions;
  /** Checkpoints during training; none by default. */
  checkpoints?: CheckpointOptions;
  /**
   * State of a checkpoint to resume from, by {@link CheckpointStore.load}. No file
   * changes before all of it is restored and `onStart` was called: if that fails, make
   * a new agent and environment and try the next one of {@link CheckpointStore.newest}.
   */
  resumeFrom?: StateTree;
  /**
   * Receives warnings: about damaged files on a resume, recorded entries of `info` that
   * episodes lack, and a run with almost no updates.
   *
   * @default console.warn
   */
  onWarning?: (line: string) => void;
  /** Ends the run on abort, with a checkpoint and `stopReason: "interrupted"`. */
  signal?: AbortSignal;
  /**
   * Progress display. True is a bar on the terminal of standard error, if that is one.
   *
   * @default true after half a second, without callbacks and loggers, which may print
   */
  progress?: boolean | ProgressReporter;
  /** Receives the progress at most ten times a second and at the end, as for pages. */
  onProgress?: (state: ProgressState) => void;
  /**
   * Clock in milliseconds.
   *
   * @default () => performance.now()
   */
  now?: () => number;
}
