import type {
  Awaitable,
  StateTree,
  Statistics,
  SteppingAlgorithm,
  Trainable,
  VecEnv,
  VecStep,
} from "@bellman/types";
import type { CheckpointInfo } from "./checkpoint_store.ts";
import type { EvaluationResult } from "./evaluate.ts";
import type { LoggedEpisode } from "./logs/logger.ts";

/** Request to end training, made by {@link stop}. */
export interface StopRequest {
  /** Marks the value. */
  readonly action: "stop";
  /** Reason in a few words; becomes the result's `stopReason`. */
  readonly reason: string;
}

/**
 * Result of a callback: nothing, `"stop"` (the callback's name is then
 * the reason), or a {@link StopRequest}.
 */
export type CallbackResult = void | "stop" | StopRequest;

/** The run as callbacks see it. The numbers are those of the moment. */
export interface TrainContext {
  /** Agent that is trained. */
  readonly algorithm: Trainable | SteppingAlgorithm;
  /** Environment that it is trained in; none where it steps its own. */
  readonly env: VecEnv | undefined;
  /** Environment steps so far, of all environments. */
  readonly step: number;
  /** Environment steps at which the run ends. */
  readonly totalTimesteps: number;
  /** Updates made so far. */
  readonly updates: number;
  /** Episodes ended so far. */
  readonly episodes: number;
  /** Seconds spent in training, those before a resume included. */
  readonly elapsedSeconds: number;
  /** Mean return of the last episodes, NaN while there is none. */
  readonly meanReturn: number;
  /** Mean length of the last episodes, NaN while there is none. */
  readonly meanLength: number;
  /**
   * Records a custom number: the next row of the log has the mean of those
   * that were recorded under a name since the last one. A resumed run keeps them.
   *
   * @param name Its name with a group, such as `rollout/lost_sales`; one without is
   * in `train/`.
   * @param value A finite number.
   */
  record(name: string, value: number): void;
}

/** Result of a run: its last numbers, and how it ended. */
export interface TrainResult extends
  Pick<
    TrainContext,
    | "step"
    | "updates"
    | "episodes"
    | "elapsedSeconds"
    | "meanReturn"
    | "meanLength"
  > {
  /** `"completed"`, `"interrupted"`, or the reason that a callback gave. */
  readonly stopReason: string;
  /** The last evaluation: of the policy at the end, unless the run was interrupted. */
  readonly lastEvaluation?: EvaluationResult;
  /** The evaluation with the highest mean return. */
  readonly bestEvaluation?: EvaluationResult;
}

/**
 * Callback for one kind of event, which may end the run.
 *
 * @typeParam Event What came of the event.
 */
export type Listener<Event> = (
  context: TrainContext,
  event: Event,
) => Awaitable<CallbackResult>;

/**
 * Listener to a training run. Each method is optional, may return a promise, and
 * may end the run by returning {@link stop}.
 */
export interface Callback {
  /** Names the callback in checkpoints and stop reasons. */
  readonly name?: string;
  /** Before the first step, or the first one after a resume: everything is restored, nothing on the disk has changed. */
  onStart?: Listener<void>;
  /**
   * After each step of all environments. Where the algorithm steps its own, after those
   * that it takes at once: the step has no rows then.
   */
  onStep?: Listener<VecStep>;
  /** After each ended episode. */
  onEpisode?: Listener<LoggedEpisode>;
  /** After each update, with its statistics. */
  onUpdate?: Listener<Statistics>;
  /** After each evaluation. */
  onEvaluation?: Listener<EvaluationResult>;
  /** After each checkpoint that was written. */
  onCheckpoint?: Listener<CheckpointInfo>;
  /** After the last step and the last checkpoint. */
  onEnd?(context: TrainContext, result: TrainResult): Awaitable<void>;
  /** State to keep in checkpoints. */
  save?(): StateTree;
  /** Restores a state that `save` returned. */
  load?(state: StateTree): void;
}

/**
 * Makes a request to end training, for a callback to return.
 *
 * @param reason Reason in a few words; becomes the result's `stopReason`.
 * @returns The request.
 *
 * @example
 * ```ts
 * import { type Callback, stop } from "@bellman/training";
 * import { assertEquals } from "@std/assert";
 *
 * const once: Callback = { onUpdate: () => stop("one update is enough") };
 * assertEquals(stop("why"), { action: "stop", reason: "why" });
 * assertEquals(typeof once.onUpdate, "function");
 * ```
 */
export function stop(reason: string): StopRequest {
  return { action: "stop", reason };
}

/** Options of {@link stopOnNoImprovement}. */
export interface NoImprovementOptions {
  /**
   * Evaluations without an improvement after which to stop.
   *
   * @default 5
   */
  patience?: number;
}

/**
 * Ends training when an evaluation's mean return reaches a threshold.
 *
 * @param threshold The mean return that is enough.
 * @returns A callback for {@link train}.
 *
 * @example
 * ```ts
 * import { stopOnRewardThreshold, summarizeEpisodes } from "@bellman/training";
 * import { assertEquals } from "@std/assert";
 *
 * const callback = stopOnRewardThreshold(475);
 * const ask = (value: number) =>
 *   callback.onEvaluation!({} as never, summarizeEpisodes([value], [1]));
 * assertEquals(ask(474), undefined);
 * assertEquals(ask(475), { action: "stop", reason: "mean return 475 reached 475" });
 * ```
 */
export function stopOnRewardThreshold(threshold: number): Callback {
  return {
    name: "reward threshold",
    onEvaluation: (_context, { meanReturn }) =>
      meanReturn >= threshold
        ? stop(`mean return ${short(meanReturn)} reached ${threshold}`)
        : undefined,
  };
}

/**
 * Ends training when evaluations no longer improve. A resume keeps
 * the count.
 *
 * @param options Patience.
 * @returns A callback for {@link train}.
 * @throws {RangeError} When the patience is not a whole number of at least 1.
 *
 * @example
 * ```ts
 * import { stopOnNoImprovement, summarizeEpisodes } from "@bellman/training";
 * import { assertEquals } from "@std/assert";
 *
 * const callback = stopOnNoImprovement({ patience: 2 });
 * const ask = (value: number) =>
 *   callback.onEvaluation!({} as never, summarizeEpisodes([value], [1]));
 * assertEquals([ask(10), ask(9)], [undefined, undefined]);
 * assertEquals(ask(10), {
 *   action: "stop",
 *   reason: "no improvement over 10 in 2 evaluations",
 * });
 * ```
 */
export function stopOnNoImprovement(
  options: NoImprovementOptions = {},
): Callback {
  const { patience = 5 } = options;
  if (!Number.isInteger(patience) || patience < 1) {
    throw new RangeError(
      `Cannot stop with patience ${patience}: it must be a whole number of at least 1`,
    );
  }
  let best = -Infinity;
  let misses = 0;
  return {
    name: "no improvement",
    onEvaluation(_context, { meanReturn }) {
      if (meanReturn > best) {
        best = meanReturn;
        misses = 0;
      } else if (++misses >= patience) {
        return stop(
          `no improvement over ${short(best)} in ${misses} evaluations`,
        );
      }
    },
    save: () => ({ best, misses }),
    load(state) {
      ({ best, misses } = state as { best: number; misses: number });
    },
  };
}

/**
 * Ends training after a time, that before a resume included.
 *
 * @param seconds Limit in seconds.
 * @returns A callback for {@link train}.
 *
 * @example
 * ```ts
 * import { stopAfterSeconds, type TrainContext } from "@bellman/training";
 * import { assertEquals } from "@std/assert";
 *
 * const callback = stopAfterSeconds(60);
 * const ask = (elapsedSeconds: number) =>
 *   callback.onStep!({ elapsedSeconds } as TrainContext, {} as never);
 * assertEquals(ask(59), undefined);
 * assertEquals(ask(60), { action: "stop", reason: "60 seconds are over" });
 * ```
 */
export function stopAfterSeconds(seconds: number): Callback {
  return {
    name: "time limit",
    onStep: ({ elapsedSeconds }) =>
      elapsedSeconds >= seconds
        ? stop(`${seconds} seconds are over`)
        : undefined,
  };
}

function short(value: number): string {
  return String(Math.round(value * 100) / 100);
}
