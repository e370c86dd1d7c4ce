import { checkResumable } from "./_training_state.ts";
import type { StateTree } from "@bellman/types";

/** How far a run had come at a checkpoint. */
export interface RunStatus {
  /** Nothing is left to train or to evaluate: resuming gives the same result. */
  readonly hasEnded: boolean;
  /** The reason that a callback gave to stop, if one did. */
  readonly stopReason?: string;
  /** Step of the best evaluation, if there was one. */
  readonly bestStep?: number;
}

/**
 * Reads from a checkpoint's state how far the run had come.
 *
 * @param state The state that {@link train} saved.
 * @returns Its end, stop reason and best evaluation.
 * @throws {TypeError} When it is not the state of a training run.
 *
 * @example
 * ```ts
 * import { runStatus } from "@bellman/training";
 * import { assertThrows } from "@std/assert";
 *
 * assertThrows(() => runStatus({ weights: 1 }), TypeError, "Cannot resume");
 * ```
 */
export function runStatus(state: StateTree): RunStatus {
  const { hasEnded, stopReason, bestStep } = checkResumable(state).loop;
  return {
    hasEnded: hasEnded === true,
    ...(typeof stopReason === "string" && { stopReason }),
    ...(typeof bestStep === "number" && { bestStep }),
  };
}
