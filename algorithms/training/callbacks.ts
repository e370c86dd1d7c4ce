import type {
  Awaitable,
  Batch,
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

/** Request to end training; made by {@link stop}. */
export interface StopRequest {
  /** Marks the object as a request. */
  readonly action: "stop";
  /** Reason in a few words; becomes the result's `stopReason`. */
  readonly reason: string;
}

/**
 * Result of a callback: nothing, `"stop"` (with the callback's name as the reason), or
 * a {@link StopRequest}.
 */
export type CallbackResult = void | "stop" | StopRequest;

/** Current state of a run, for callbacks. */
export interface TrainContext {
  /** Agent in training. */
  readonly algorithm: Trainable | SteppingAlgorithm;
  /** Training environment; undefined if the agent steps its own. */
  readonly env: VecEnv | undefined;
  /** Environment steps so far, of all environments. */
  readonly step: number;
  /** Environment steps of the whole run. */
  readonly totalTimesteps: number;
  /** Number of updates so far. */
  readonly updates: number;
  /** Number of finished episodes so far. */
  readonly episodes: number;
  /** Seconds of training, including those before a resume. */
  readonly elapsedSeconds: number;
  /** Mean return of the last episodes, NaN if there is none. */
  readonly meanReturn: number;
  /** Mean length of the last episodes, NaN if there is none. */
  readonly meanLength: number;
  /**
   * Records a custom number: the next log row contains the mean of the values of each
   * name since the last row. A resumed run keeps them.
   *
   * @param name Name with a group, such as `rollout/lost_sales`; `train/` by default.
   * @param value A finite number.
   */
  record(name: string, value: number): void;
}

/** Result of a run: its final numbers, and the reason for its end. */
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
  /** `"completed"`, `"interrupted"`, or the reason of a callback. */
  readonly stopReason: string;
  /** Last evaluation: of the final policy, unless the run was interrupted. */
  readonly lastEvaluation?: EvaluationResult;
  /** Evaluation with the highest mean return. */
  readonly bestEvaluation?: EvaluationResult;
}

/**
 * Callback for one kind of event, which may end training.
 *
 * @typeParam Event Data of the event.
 */
export type Listener<Event> = (
  context: TrainContext,
  event: Event,
) => Awaitable<CallbackResult>;

/**
 * Callback of a training run, with optional methods for its events. Each may return a
 * promise, and may end training by returning {@link stop}.
 *
 * @typeParam O Observations of the training environment, such as `Float32Array`.
 */
export interface Callback<O extends Batch = Batch> {
  /** Name in checkpoints and stop reasons. */
  readonly name?: string;
  /**
   * Called before the first step, also after a resume: the saved state is restored, and
   * no file has changed yet.
   */
  onStart?: Listener<void>;
  /**
   * Called after each step of all environments. If the agent steps its own, called
   * after each round of steps, with an empty step.
   */
  onStep?(context: TrainContext, step: VecStep<O>): Awaitable<CallbackResult>;
  /** Called after each finished episode. */
  onEpisode?: Listener<LoggedEpisode>;
  /** Called after each update, with its statistics. */
  onUpdate?: Listener<Statistics>;
  /** Called after each evaluation. */
  onEvaluation?: Listener<EvaluationResult>;
  /** Called after each checkpoint. */
  onCheckpoint?: Listener<CheckpointInfo>;
  /** Called after the last step and the last checkpoint. */
  onEnd?(context: TrainContext, result: TrainResult): Awaitable<void>;
  /** Saves the callback's state in checkpoints. */
  save?(): StateTree;
  /** Restores a saved state. */
  load?(state: StateTree): void;
}

/**
 * Makes a request to end training, as a callback's result.
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

/**
 * Ends training as soon as an evaluation's mean return reaches a threshold.
 *
 * @param threshold Mean return.
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
 * Ends training if evaluations no longer improve. A resumed run continues the count.
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
  options: {
    /**
     * Number of evaluations in a row without improvement before training stops.
     *
     * @default 5
     */
    patience?: number;
  } = {},
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
 * Ends training after a time, including the time before a resume.
 *
 * @param seconds Time limit.
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
