import type { Batch, Env } from "@bellman/types";
import type { Session } from "../session.ts";

/** An episode that was played to its end. */
export interface PlayedEpisode {
  return: number;
  length: number;
}

/** How episodes are played. */
export interface PlayOptions {
  /** The environment to play in; it is drawn by the caller. */
  env: Env;
  episodes: number;
  deterministic: boolean;
  seed: number;
  /**
   * Called with each state of an episode but the last, in whose step the next
   * episode begins.
   */
  show(episode: number, step: number): Promise<void> | void;
}

/** Plays whole episodes with the session's agent in one environment. */
export async function playEpisodes(
  { algorithm, environments }: Session,
  { env, episodes, deterministic, seed, show }: PlayOptions,
): Promise<PlayedEpisode[]> {
  const vec = environments.around(env);
  const actor = algorithm.policy({ deterministic, numEnvs: 1, seed });
  const played: PlayedEpisode[] = [];
  try {
    let observations = vec.reset({ seed });
    let stepsShown = 0;
    await show(1, 0);
    while (played.length < episodes) {
      const step = vec.step(await actor.act(observations) as Batch);
      actor.observe?.(step);
      observations = step.observations;
      stepsShown++;
      for (const episode of step.episodes ?? []) {
        played.push({ return: episode.return, length: episode.length });
        stepsShown = 0;
      }
      if (played.length < episodes) await show(played.length + 1, stepsShown);
    }
    return played;
  } finally {
    actor.close?.();
    vec.close();
  }
}
