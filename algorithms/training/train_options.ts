import type { StateTree, VecEnv } from "@bellman/types";
import type { Callback } from "./callbacks.ts";
import type { CheckpointNotes, CheckpointStore } from "./checkpoint_store.ts";
import type { Hyperparameters, Logger } from "./logs/logger.ts";
import type { ProgressReporter } from "./progress.ts";

/**
 * Evaluation during training: at every interval, and at the end
 * whatever its step, so that the last policy is a candidate for the best. A
 * run that is interrupted is not evaluated; its resume is.
 */
export interface EvaluationOptions {
  /** Environment for evaluations; it is reset with `seed` at each evaluation. */
  env: VecEnv;
  /**
   * Environment steps between evaluations; `Infinity` evaluates nothing, at the end
   * neither.
   *
   * @default a twentieth of totalTimesteps; 50,000 where that is infinite
   */
  everyTimesteps?: number;
  /**
   * Episodes of an evaluation.
   *
   * @default 10
   */
  episodes?: number;
  /**
   * Steps after which an episode that has not ended is cut; evaluations count such
   * episodes.
   *
   * @default the environment's own limit, or 10,000 where it has none
   */
  maxSteps?: number;
  /**
   * Take the most likely action instead of sampling one.
   *
   * @default true
   */
  deterministic?: boolean;
  /**
   * Seed of each evaluation: all of them start from the same states, so they
   * can be compared.
   *
   * @default evaluationSeeds(seed of training).during, which is 10000
   */
  seed?: number;
}

/** Checkpoints during training. */
export interface CheckpointOptions {
  /** Store of the checkpoints. */
  store: CheckpointStore;
  /**
   * Environment steps between checkpoints. One is always written before the first
   * step, and one at the end.
   *
   * @default Infinity
   */
  everyTimesteps?: number;
  /**
   * Checkpoints to keep. The best one is kept in addition, in two copies unless
   * `everyTimesteps` is `Infinity`: as `best` and under its step.
   *
   * @default 3
   */
  keepLast?: number;
  /**
   * Plain values to keep in each checkpoint with the state; `logs` is a name of
   * training's own.
   *
   * @default {}
   */
  notes?: CheckpointNotes;
}

/** Options of {@link train}. */
export interface TrainOptions {
  /** Environment steps, of all environments, at which to end: the run stops at the first count that reaches it. */
  totalTimesteps: number;
  /**
   * Seed of the environment's first reset. Not used on a resume.
   *
   * @default the environment's own
   */
  seed?: number;
  /**
   * Environment steps between log rows. The first update and the end are always logged.
   *
   * @default a hundredth of totalTimesteps; 10,000 where that is infinite
   */
  logInterval?: number;
  /**
   * Episodes in the window over which `rollout/return_mean` and
   * `rollout/length_mean` are means.
   *
   * @default 100
   */
  episodeWindow?: number;
  /**
   * Logs of the statistics. Closed when training ends.
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
  /** Evaluation during training; none when left out. */
  evaluation?: EvaluationOptions;
  /** Checkpoints during training; none when left out. */
  checkpoints?: CheckpointOptions;
  /**
   * The state of a checkpoint to continue from, as {@link CheckpointStore.load}
   * gives it. Nothing on the disk changes before all of it is restored and
   * `onStart` was called: where that fails, make a new algorithm and environment
   * and try the next one of {@link CheckpointStore.newest}.
   */
  resumeFrom?: StateTree;
  /**
   * Takes a line about each damaged file when a run is resumed, about what episodes
   * lack (entries of `info` that are to be recorded), and one where a run ends that
   * has made next to no updates.
   *
   * @default console.warn
   */
  onWarning?: (line: string) => void;
  /** Ends the run when aborted, with a checkpoint and `stopReason: "interrupted"`. */
  signal?: AbortSignal;
  /** Display of the run's progress. */
  progress?: ProgressReporter;
  /**
   * Milliseconds since any fixed moment.
   *
   * @default () => performance.now()
   */
  now?: () => number;
}
