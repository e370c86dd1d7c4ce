import type { EvaluationResult } from "./evaluate.ts";

/** How a run ended. */
export interface TrainResult {
  /** `"completed"`, `"interrupted"`, or the reason that a callback gave. */
  readonly stopReason: string;
  /** Environment steps taken, over all copies, those before a resume included. */
  readonly step: number;
  /** Updates made. */
  readonly updates: number;
  /** Episodes ended. */
  readonly episodes: number;
  /** Mean return of the last episodes, NaN when there was none. */
  readonly meanReturn: number;
  /** Mean length of the last episodes, NaN when there was none. */
  readonly meanLength: number;
  /** Seconds spent, those before a resume included. */
  readonly elapsedSeconds: number;
  /** The last evaluation: of the policy at the end, unless the run was interrupted. */
  readonly lastEvaluation?: EvaluationResult;
  /** The evaluation with the highest mean return. */
  readonly bestEvaluation?: EvaluationResult;
}
