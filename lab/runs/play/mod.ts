/**
 * Episodes of an agent as images, GIFs and videos.
 *
 * @example
 * ```ts
 * import { a2c } from "@bellman/a2c";
 * import { Agent } from "@bellman/agent";
 * import { make, makeVec, SyncVecEnv } from "@bellman/envs";
 * import { GifWriter, playEpisodes } from "@bellman/runs/play";
 * import type { Env } from "@bellman/types";
 * import { assertEquals } from "@std/assert";
 *
 * const algorithm = new Agent(a2c, makeVec("CartPole-v1", { numEnvs: 1 }));
 * const environments = { around: (env: Env) => new SyncVecEnv([() => env]) };
 * const env = make("CartPole-v1");
 * const path = `${await Deno.makeTempDir()}/play.gif`;
 * const gif = new GifWriter(path, 50);
 * const settings = { env, episodes: 1, maxSteps: 3, deterministic: true, seed: 0 };
 * await playEpisodes(
 *   { algorithm, environments },
 *   { ...settings, show: () => gif.show(env.render({ width: 60, height: 40 })) },
 * );
 * assertEquals(await gif.finish(), `wrote ${path}`);
 * algorithm.close?.();
 * ```
 *
 * @module
 */
export { captionOf, type PlayMoment, withCaption } from "./caption.ts";
export {
  enlarged,
  frameRateOf,
  type PlayedEpisode,
  playEpisodes,
  type Player,
  type PlayOptions,
} from "./episodes.ts";
export { EpisodeWriter, type EpisodeWriterOptions } from "./episode_writer.ts";
export { GifWriter, MOST_GIF_FRAMES_PER_SECOND } from "./gif.ts";
export {
  type ByHandOptions,
  type HumanOptions,
  playByHand,
  playHuman,
  type TextWorld,
  textWorld,
} from "./human.ts";
export { gamePage, type GamePageOptions } from "./page.ts";
export { hasFfmpeg, Mp4Writer } from "./mp4.ts";
export { type PictureSink, pngSink, terminalSink } from "./pictures.ts";
