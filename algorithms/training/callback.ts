import type {
  Algorithm,
  Awaitable,
  StateTree,
  Statistics,
  VecEnv,
  VecStep,
} from "@bellman/types";
import type { CheckpointInfo } from "./checkpoint_store.ts";
import type { EvaluationResult } from "./evaluate.ts";
import type { LoggedEpisode } from "./logger.ts";
import type { TrainResult } from "./train_result.ts";

/** A wish to end training, made by {@link stop}. */
export interface StopRequest {
  /** Marks the value. */
  readonly action: "stop";
  /** Why, in a few words; becomes the result's `stopReason`. */
  readonly reason: string;
}

/**
 * What a callback may return: nothing, `"stop"` (the callback's name is then
 * the reason), or a {@link StopRequest}.
 */
export type CallbackResult = void | "stop" | StopRequest;

/** What a callback can see of the run. The numbers are those of the moment. */
export interface TrainContext {
  /** The algorithm that is trained. */
  readonly algorithm: Algorithm;
  /** The environment that it is trained in. */
  readonly env: VecEnv;
  /** Environment steps taken so far, over all copies. */
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
}

/**
 * Something told of what happens in training. Each method is optional, may
 * return a promise, and may ask for the end by returning {@link stop}.
 */
export interface Callback {
  /** Names the callback in checkpoints and stop reasons. */
  readonly name?: string;
  /** Before the first step, or the first one after a resume: everything is restored, nothing on the disk has changed. */
  onStart?(context: TrainContext): Awaitable<CallbackResult>;
  /** After each step of all copies. */
  onStep?(
    context: TrainContext,
    step: VecStep,
  ): Awaitable<CallbackResult>;
  /** After each ended episode. */
  onEpisode?(
    context: TrainContext,
    episode: LoggedEpisode,
  ): Awaitable<CallbackResult>;
  /** After each update, with its statistics. */
  onUpdate?(
    context: TrainContext,
    statistics: Statistics,
  ): Awaitable<CallbackResult>;
  /** After each evaluation. */
  onEvaluation?(
    context: TrainContext,
    evaluation: EvaluationResult,
  ): Awaitable<CallbackResult>;
  /** After each checkpoint that was written. */
  onCheckpoint?(
    context: TrainContext,
    checkpoint: CheckpointInfo,
  ): Awaitable<CallbackResult>;
  /** After the last step and the last checkpoint. */
  onEnd?(context: TrainContext, result: TrainResult): Awaitable<void>;
  /** State to keep in checkpoints. */
  save?(): StateTree;
  /** Continues from a state that `save` gave. */
  load?(state: StateTree): void;
}

/**
 * A wish to end training, for a callback to return.
 *
 * @param reason Why, in a few words; becomes the result's `stopReason`.
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
