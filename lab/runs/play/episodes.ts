import type {
  Env,
  EpisodeStatistics,
  RgbImage,
  Trainable,
  VecEnv,
} from "@bellman/types";
import { evaluationBound } from "@bellman/training";
import type { PlayMoment } from "./caption.ts";

/** Agent with its environment wrappers. */
export interface Player {
  /** Agent that plays. */
  algorithm: Pick<Trainable, "policy">;
  /** Wrappers of the environment. */
  environments: {
    /** Wraps an environment as for evaluation. */
    around(env: Env): VecEnv;
  };
}

/** Settings of playing. */
export interface PlayOptions {
  /** Environment to play in; the caller renders it. */
  env: Env;
  /** Number of episodes. */
  episodes: number;
  /** Take the most likely actions instead of sampled ones. */
  deterministic: boolean;
  /** Seed of the episodes, and of sampled actions. */
  seed: number;
  /**
   * Step limit: longer episodes are cut.
   *
   * @default the environment's limit, or 10,000 if it has none
   */
  maxSteps?: number;
  /**
   * Called with each state of an episode but the last, whose step starts the next
   * episode. Playing ends if it returns false.
   */
  show(moment: PlayMoment): Promise<boolean | void> | boolean | void;
}

/** Played episode. */
export interface PlayedEpisode extends EpisodeStatistics {
  /** True if the step limit cut it. */
  readonly isCut?: boolean;
}

/**
 * Plays episodes with a run's agent in one environment, then closes it.
 *
 * @example
 * ```ts
 * import { a2c } from "@bellman/a2c";
 * import { Agent } from "@bellman/agent";
 * import { make, makeVec, SyncVecEnv } from "@bellman/envs";
 * import { playEpisodes } from "@bellman/runs/play";
 * import type { Env } from "@bellman/types";
 * import { assertEquals } from "@std/assert";
 *
 * const algorithm = new Agent(a2c, makeVec("CartPole-v1", { numEnvs: 1 }));
 * const environments = { around: (env: Env) => new SyncVecEnv([() => env]) };
 * const steps: number[] = [];
 * const [episode] = await playEpisodes({ algorithm, environments }, {
 *   ...{ env: make("CartPole-v1"), episodes: 1, maxSteps: 3 },
 *   ...{ deterministic: true, seed: 0 },
 *   show: ({ step }) => void steps.push(step),
 * });
 * assertEquals([episode.length, steps], [3, [0, 1, 2]]);
 * algorithm.close?.();
 * ```
 */
export async function playEpisodes(
  { algorithm, environments }: Player,
  { env, episodes, deterministic, seed, show, ...bound }: PlayOptions,
): Promise<PlayedEpisode[]> {
  const { maxSteps = evaluationBound(env) } = bound;
  const vec = environments.around(env);
  const actor = algorithm.policy({ deterministic, numEnvs: 1, seed });
  const played: PlayedEpisode[] = [];
  try {
    let observations = vec.reset({ seed });
    let moment: PlayMoment = { episode: 1, step: 0, return: 0 };
    if (await show(moment) === false) return played;
    while (played.length < episodes) {
      const actions = await actor.act(observations, vec.actionMasks);
      let step = vec.step(actions);
      const { episode, step: before, return: sum } = moment;
      moment = { episode, step: before + 1, return: sum + step.rewards[0] };
      const ended: PlayedEpisode[] = [...step.episodes ?? []];
      if (ended.length === 0 && moment.step >= maxSteps) {
        const { step: length, return: total } = moment;
        const episode = { env: 0, return: total, length, terminated: false };
        ended.push({ ...episode, isCut: true });
        // Recurrent actors start over with the environment.
        const truncated = new Uint8Array([1]);
        step = { ...step, truncated, observations: vec.reset() };
      }
      actor.observe?.(step);
      observations = step.observations;
      played.push(...ended);
      if (ended.length > 0) {
        moment = { episode: played.length + 1, step: 0, return: 0 };
      }
      if (played.length === episodes) break;
      if (await show(moment) === false) break;
    }
    return played;
  } finally {
    actor.close?.();
    vec.close();
  }
}

/** Default frame rate of environments. */
const USUAL_RATE = 30;

/**
 * Returns the steps per second of an environment in real time.
 *
 * @example
 * ```ts
 * import { make } from "@bellman/envs";
 * import { frameRateOf } from "@bellman/runs/play";
 * import { assertEquals } from "@std/assert";
 *
 * const env = make("CartPole-v1");
 * assertEquals(frameRateOf(env), 50);
 * env.close();
 * ```
 */
export function frameRateOf(
  { framesPerSecond }: Pick<Env, "framesPerSecond">,
): number {
  const isKnown = framesPerSecond !== undefined && framesPerSecond > 0;
  return isKnown ? framesPerSecond : USUAL_RATE;
}

/** Longer side of enlarged images, in pixels. */
const LARGE = 640;

/**
 * Enlarges a small image by a whole factor, which keeps pixels sharp: a screen of
 * Atari's 160 by 210 pixels three times. Larger images stay the same.
 *
 * @example
 * ```ts
 * import { enlarged } from "@bellman/runs/play";
 * import { assertEquals } from "@std/assert";
 *
 * const screen = { width: 160, height: 210, data: new Uint8Array(160 * 210 * 3) };
 * assertEquals([enlarged(screen).width, enlarged(screen).height], [480, 630]);
 * ```
 */
export function enlarged(image: RgbImage): RgbImage {
  const { width, height } = image;
  const scale = Math.floor(LARGE / Math.max(width, height));
  if (scale <= 1) return image;
  const data = new Uint8Array(3 * width * height * scale * scale);
  const rowBytes = 3 * width * scale;
  for (let y = 0, to = 0; y < height; y++) {
    const start = to;
    for (let x = 0; x < width; x++) {
      const from = 3 * (y * width + x);
      for (let i = 0; i < scale; i++, to += 3) {
        data[to] = image.data[from];
        data[to + 1] = image.data[from + 1];
        data[to + 2] = image.data[from + 2];
      }
    }
    for (let i = 1; i < scale; i++, to += rowBytes) {
      data.copyWithin(to, start, start + rowBytes);
    }
  }
  return { width: width * scale, height: height * scale, data };
}
