import type { Env, RgbImage } from "@bellman/types";
import type { RunFolder } from "../folder/run_folder.ts";
import {
  type Callback,
  evaluationSeeds,
  EventLoopBreak,
  type LoggedImage,
} from "@bellman/training";
import type { ReportedVideo } from "@bellman/training/plots";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import type { RunSetup } from "./run_setup.ts";
import { captionOf, withCaption } from "../play/caption.ts";
import { frameRateOf, playEpisodes } from "../play/episodes.ts";
import { GifWriter } from "../play/gif.ts";

/** Longer side of a report's videos, in pixels. */
const SIDE = 320;
/** Highest frame rate of these videos. */
const MOST_RATE = 15;
/** Seconds after which a video ends, even within an episode. */
const MOST_SECONDS = 30;

/** Recorder of a run's videos. */
export interface VideoRecorder {
  /** Records the agent before training, and at each interval. */
  callback: Callback;
  /** Records the best agent, which the setup has at the end. */
  recordBest(): Promise<void>;
}

/**
 * Makes a recorder of the first evaluation episode, as a GIF in a run's folder. It uses
 * separate environments and random streams, so that it does not change training.
 *
 * @param setup Setup of the run.
 * @param folder Folder of the run.
 * @param options Signal that aborts a recording without a video, and receiver of the
 * videos during training.
 */
export function videoRecorder(
  setup: RunSetup,
  { videosDir }: RunFolder,
  { signal, onVideo }: {
    signal?: AbortSignal;
    onVideo?: (video: LoggedImage) => void;
  } = {},
): VideoRecorder {
  const { config, environments } = setup;
  const { videoInterval: interval } = config;
  const record = async (name: string, step?: number): Promise<void> => {
    const env = environments.single();
    const rate = frameRateOf(env), every = Math.ceil(rate / MOST_RATE);
    mkdirSync(videosDir, { recursive: true });
    const path = `${videosDir}/${name}.gif`;
    const video = new GifWriter(path, rate / every);
    const turn = new EventLoopBreak();
    let draw: (() => RgbImage) | undefined;
    let frames = 0, size = { width: 0, height: 0 };
    try {
      await playEpisodes(setup, {
        env,
        episodes: 1,
        deterministic: config.evaluationDeterministic,
        seed: evaluationSeeds(config.seed).during,
        show: async (moment) => {
          if (turn.due()) await turn.take();
          signal?.throwIfAborted();
          if (moment.step % every !== 0) return;
          if (++frames > MOST_SECONDS * rate / every) return false;
          draw ??= drawerOf(env);
          const image = withCaption(draw(), captionOf(moment));
          size = { width: image.width, height: image.height };
          await video.show(image);
        },
      });
      await video.finish();
      if (step === undefined || onVideo === undefined) return;
      onVideo({
        step,
        name: "eval/episode",
        ...size,
        data: readFileSync(path),
      });
    } catch (error) {
      await video.abort();
      if (!signal?.aborted) throw error;
    }
  };
  let next = Infinity;
  const later = (step: number) => interval * (Math.floor(step / interval) + 1);
  const name = (step: number) => `step-${String(step).padStart(9, "0")}`;
  return {
    callback: {
      onStart({ step }) {
        next = later(step);
        return step === 0 ? record(name(0), 0) : undefined;
      },
      onStep({ step }) {
        if (step < next) return;
        next = later(step);
        return record(name(step), step);
      },
    },
    recordBest: () => record("best"),
  };
}

/** Makes a function that renders an environment, scaled down if it is large. */
function drawerOf(env: Env): () => RgbImage {
  const { width, height } = env.render();
  const scale = Math.min(1, SIDE / Math.max(width, height));
  const size = {
    width: Math.max(1, Math.round(scale * width)),
    height: Math.max(1, Math.round(scale * height)),
  };
  return () => env.render(size);
}

/** Largest number of videos in a report. */
const MOST_VIDEOS = 9;

/** Names of videos: the best agent, and steps of training. */
const VIDEO = /^(?:best|step-(\d+))\.gif$/;

/**
 * Reads the videos of a run for its report, the best agent first; if there are many, a
 * selection from first to last.
 */
export function readVideos({ videosDir }: RunFolder): ReportedVideo[] {
  if (!existsSync(videosDir)) return [];
  const names = readdirSync(videosDir).filter((it) => VIDEO.test(it)).sort();
  const last = names.length - 1, count = Math.min(names.length, MOST_VIDEOS);
  const chosen = Array.from(
    { length: count },
    (_, i) => names[Math.round(i * last / Math.max(1, count - 1))],
  );
  return chosen.map((name) => {
    const [, step] = name.match(VIDEO)!;
    return {
      title: step === undefined
        ? "Best agent"
        : `Agent after ${Number(step).toLocaleString("en-US")} steps`,
      data: readFileSync(`${videosDir}/${name}`),
    };
  });
}
