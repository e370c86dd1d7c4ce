import type { Space, VecStep } from "@bellman/types";
import { allocateBatch } from "./spaces/batch.ts";

/** Step whose fields can be set. */
export type MutableStep = { -readonly [K in keyof VecStep]: VecStep[K] };

/**
 * Makes the step of a vector environment, which it fills again and again; with masks
 * of so many choices, which allow all.
 */
export function allocateStep(
  space: Space,
  numEnvs: number,
  choices?: number,
): MutableStep {
  const masks = () => new Uint8Array(numEnvs * choices!).fill(1);
  return {
    observations: allocateBatch(space, numEnvs),
    rewards: new Float64Array(numEnvs),
    terminated: new Uint8Array(numEnvs),
    truncated: new Uint8Array(numEnvs),
    finalObservations: allocateBatch(space, numEnvs),
    ...choices !== undefined &&
      { actionMasks: masks(), finalActionMasks: masks() },
  };
}

/**
 * Copies a step's references into the wrapper's own object, which is made once
 * and reused, so that a step allocates nothing.
 */
export function relay(step: VecStep, target: MutableStep): MutableStep {
  target.observations = step.observations;
  target.rewards = step.rewards;
  target.terminated = step.terminated;
  target.truncated = step.truncated;
  target.finalObservations = step.finalObservations;
  target.episodes = step.episodes;
  target.lost = step.lost;
  if (step.actionMasks === undefined) return target;
  target.actionMasks = step.actionMasks;
  target.finalActionMasks = step.finalActionMasks;
  return target;
}

/** Finds out if the episode of a row ended in a step. */
export function ended(step: VecStep, row: number): boolean {
  return step.terminated[row] !== 0 || step.truncated[row] !== 0;
}

/** Finds out if any episode ended in a step; in most steps none does. */
export function anyEnded(step: VecStep): boolean {
  for (let row = 0; row < step.rewards.length; row++) {
    if (ended(step, row)) return true;
  }
  return false;
}
