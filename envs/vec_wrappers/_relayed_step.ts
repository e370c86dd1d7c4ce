import type { VecStep } from "@bellman/types";

/** A step that a wrapper fills from the one inside and changes. */
export type RelayedStep = { -readonly [K in keyof VecStep]: VecStep[K] };

/**
 * Copies a step's references into the wrapper's own object, which is made once
 * and reused, so that nothing is allocated in a step.
 */
export function relay(step: VecStep, target: RelayedStep): RelayedStep {
  target.observations = step.observations;
  target.rewards = step.rewards;
  target.terminated = step.terminated;
  target.truncated = step.truncated;
  target.finalObservations = step.finalObservations;
  target.episodes = step.episodes;
  target.lost = step.lost;
  return target;
}

/** Whether a copy's episode ended in a step. */
export function ended(step: VecStep, row: number): boolean {
  return step.terminated[row] !== 0 || step.truncated[row] !== 0;
}

/** Whether any copy's episode ended in a step; in most steps none does. */
export function anyEnded(step: VecStep): boolean {
  for (let row = 0; row < step.rewards.length; row++) {
    if (ended(step, row)) return true;
  }
  return false;
}
