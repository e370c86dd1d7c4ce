import type { EnvSpec } from "@bellman/types";

/** What is known of a game with a limit of steps; `Infinity` is none. */
export function limitedSpec(id: string, maxEpisodeSteps: number): EnvSpec {
  return maxEpisodeSteps === Infinity ? { id } : { id, maxEpisodeSteps };
}
