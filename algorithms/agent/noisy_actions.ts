import type { BoxSpace, StateTree } from "@bellman/types";
import type { AgentContext, Explorer } from "./algorithm.ts";
import { randomActions } from "./random_actions.ts";

/** Pull of the walk to 0 in a unit of time, and the time of a step. */
const PULL = 0.15, STEP = 0.01;

/** Options of {@link noisyActions}. */
export interface NoisyActionsOptions {
  /** Environment steps with random actions before the policy acts. */
  readonly learningStarts: number;
  /** Standard deviation of the noise; for `ou`, of its increments per unit of time. */
  readonly explorationNoise: number;
  /** Independent Gaussian noise at each step, or an Ornstein-Uhlenbeck process. */
  readonly explorationNoiseType: "gaussian" | "ou";
}

/**
 * Makes an exploration with random actions at first, then noise added to the policy's
 * actions, clipped to [-1, 1]. Each environment has its own noise.
 *
 * Source: Lillicrap et al. 2016 (https://arxiv.org/abs/1509.02971), section 7 (`ou`,
 * with the time steps of baselines and Stable-Baselines3); Fujimoto et al. 2018
 * (https://arxiv.org/abs/1802.09477), algorithm 1 (`gaussian`).
 *
 * @param context Action space, number of environments.
 * @param options Kind and standard deviation of the noise, number of random actions.
 * @returns The `explore` of an algorithm's parts.
 *
 * @example
 * ```ts
 * import { noisyActions } from "@bellman/agent";
 * import { RandomStream } from "@bellman/compute";
 * import { assert } from "@std/assert";
 *
 * const explorer = noisyActions({
 *   actionSpace: { type: "box", shape: [1], low: -2, high: 2, dtype: "float32" },
 *   numEnvs: 2,
 * }, {
 *   explorationNoise: 0.1,
 *   explorationNoiseType: "gaussian",
 *   learningStarts: 0,
 * });
 * const [first, second] = explorer.act({
 *   progress: { steps: 2, updates: 0, fraction: 0 },
 *   random: new RandomStream(1),
 *   sample: () => new Float32Array(2),
 * });
 * assert(first !== second && first !== 0);
 * ```
 */
export function noisyActions(
  { actionSpace, numEnvs }: Pick<AgentContext, "actionSpace" | "numEnvs">,
  { learningStarts, ...options }: NoisyActionsOptions,
): Explorer {
  const isWalk = options.explorationNoiseType === "ou";
  const first = randomActions({ actionSpace, numEnvs }, {
    steps: learningStarts,
  });
  const { shape } = actionSpace as BoxSpace;
  const size = shape.reduce((product, length) => product * length, 1);
  const walk = new Float32Array(numEnvs * size);
  const scale = options.explorationNoise * (isWalk ? Math.sqrt(STEP) : 1);
  return {
    act(exploration) {
      const { progress, random, starts } = exploration;
      const actions = first.act(exploration);
      if (progress.steps < learningStarts) return actions;
      for (let i = 0; i < actions.length; i++) {
        const isStart = starts?.[Math.floor(i / size)] === 1;
        const before = !isWalk || isStart ? 0 : walk[i] * (1 - PULL * STEP);
        walk[i] = before + scale * random.normal();
        actions[i] = Math.min(1, Math.max(-1, actions[i] + walk[i]));
      }
      return actions;
    },
    ...(isWalk && {
      save: () => ({ walk: walk.slice() }),
      load: (state) => walk.set(walkOf(state, walk.length)),
    }),
  };
}

/** Takes the walk out of what was saved. */
function walkOf(state: StateTree, length: number): Float32Array {
  const { walk } = (state ?? {}) as { walk?: Float32Array };
  if (walk?.length === length) return walk;
  throw new TypeError(
    `Cannot restore exploration noise of ${length} numbers from something else: expected what save() gave`,
  );
}
