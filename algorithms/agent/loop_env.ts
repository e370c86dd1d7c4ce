import type { VecEnv, VecStep } from "@bellman/types";
import type { AgentSpaces } from "./experience/context.ts";

/**
 * Makes the environment of an algorithm that takes its steps itself, for the
 * training loop: one step of it is a call, after which nobody looks at
 * observations or at what it was asked to do.
 *
 * @param spaces Spaces that it shows.
 * @param call Takes steps; returns their number, and the episodes that ended.
 * @returns The environment, which has no state of its own.
 *
 * @example
 * ```ts
 * import { loopEnv } from "@bellman/agent";
 * import { assertEquals } from "@std/assert";
 *
 * const env = loopEnv({
 *   observationSpace: { type: "discrete", n: 1 },
 *   actionSpace: { type: "discrete", n: 1 },
 *   numEnvs: 1,
 * }, () => ({ steps: 100, episodes: [] }));
 * assertEquals(env.step(env.observations()).steps, 100);
 * ```
 */
export function loopEnv(
  { observationSpace, actionSpace, stackedFrames, numEnvs }: AgentSpaces,
  call: () => Partial<VecStep>,
): VecEnv {
  const nothing = new Int32Array(numEnvs), flags = new Uint8Array(numEnvs);
  const step: VecStep = {
    observations: nothing,
    finalObservations: nothing,
    rewards: new Float64Array(numEnvs),
    terminated: flags,
    truncated: flags,
  };
  return {
    observationSpace,
    actionSpace,
    stackedFrames,
    numEnvs,
    reset: () => nothing,
    step: () => ({ ...step, ...call() }),
    observations: () => nothing,
    save: () => null,
    load: () => {},
    close: () => {},
  };
}
