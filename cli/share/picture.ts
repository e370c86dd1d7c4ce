import type { RgbImage } from "@bellman/types";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { captionOf, withCaption } from "../play/caption.ts";
import { frameRateOf, playEpisodes } from "../play/episodes.ts";
import { GifWriter } from "../play/gif.ts";
import type { RunSetup } from "../run/run_setup.ts";

/** Pictures a second, and most pictures: twenty seconds. */
const RATE = 10, MOST_PICTURES = 200;

/** Longer side of the pictures in pixels, and how manieth of them is kept: the next ones where those before take too many bytes. */
const SIZES = [
  { side: 300, every: 1 },
  { side: 240, every: 1 },
  { side: 240, every: 2 },
  { side: 160, every: 2 },
  { side: 160, every: 4 },
  { side: 100, every: 8 },
] as const;

/** Bytes that are aimed at: a clone holds all of them. */
const WANTED_BYTES = 80_000;

/** Makes a picture smaller; whole pixels are left out. */
function smaller({ width, height, data }: RgbImage, side: number): RgbImage {
  const scale = Math.min(1, side / Math.max(width, height));
  const [w, h] = [width, height].map((it) =>
    Math.max(1, Math.round(it * scale))
  );
  const out = new Uint8Array(3 * w * h);
  for (let y = 0, to = 0; y < h; y++) {
    const row = Math.floor(y * height / h) * width;
    for (let x = 0; x < w; x++, to += 3) {
      const from = 3 * (row + Math.floor(x * width / w));
      for (let c = 0; c < 3; c++) out[to + c] = data[from + c];
    }
  }
  return { width: w, height: h, data: out };
}

/** Records an episode of the setup's agent, or its beginning. */
async function record(
  setup: RunSetup,
  { seed, deterministic }: { seed: number; deterministic: boolean },
): Promise<{ images: RgbImage[]; captions: string[] }> {
  const env = setup.environments.single();
  const every = Math.max(1, Math.round(frameRateOf(env) / RATE));
  const [{ side }] = SIZES;
  const images: RgbImage[] = [], captions: string[] = [];
  await playEpisodes(setup, {
    env,
    episodes: 1,
    deterministic,
    seed,
    maxSteps: setup.config.evaluationMaxSteps ?? undefined,
    show(moment) {
      if (moment.step % every !== 0) return true;
      const { width, height } = env.render();
      const scale = Math.min(1, side / Math.max(width, height));
      const [w, h] = [width, height].map((it) => Math.round(it * scale));
      images.push(smaller(env.render({ width: w, height: h }), side));
      captions.push(captionOf(moment));
      return images.length < MOST_PICTURES;
    },
  });
  return { images, captions };
}

/**
 * Draws an episode of the setup's agent as a small GIF.
 *
 * @returns Its bytes.
 * @throws {Error} If the environment cannot draw.
 */
export async function sharedPicture(
  setup: RunSetup,
  options: { seed: number; deterministic: boolean },
): Promise<Uint8Array> {
  const { images, captions } = await record(setup, options);
  const dir = mkdtempSync(join(tmpdir(), "bellman-share-"));
  try {
    let bytes = new Uint8Array();
    for (const { side, every } of SIZES) {
      const path = join(dir, "play.gif");
      const gif = new GifWriter(path, RATE / every);
      for (let i = 0; i < images.length; i += every) {
        await gif.show(withCaption(smaller(images[i], side), captions[i]));
      }
      await gif.finish();
      bytes = readFileSync(path);
      if (bytes.length <= WANTED_BYTES) break;
    }
    return bytes;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
