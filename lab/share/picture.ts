import {
  captionOf,
  frameRateOf,
  playEpisodes,
  withCaption,
} from "@bellman/runs/play";
import type { RunSetup } from "@bellman/runs/training";
import { MOST_PICTURE_BYTES } from "./shared_files.ts";

/** Longer side in pixels and frame rate: the next ones are used if a file is too large. */
const SIZES = [[300, 10], [240, 10], [240, 5], [160, 5], [100, 2]] as const;

/** Target size in bytes, since clones include the whole zoo. */
const WANTED_BYTES = 80_000;

/** Largest duration in seconds. */
const SECONDS = 20;

/**
 * Renders an episode of the agent, or its beginning, as a small GIF.
 *
 * @returns Bytes of the file.
 * @throws {Error} If the environment cannot render, or no file is small enough.
 */
export async function sharedPicture(
  setup: RunSetup,
  options: { seed: number; deterministic: boolean },
): Promise<Uint8Array> {
  // Loads the plot library only if a GIF is made.
  const { GifEncoder } = await import("@bellman/training/plots");
  let bytes = new Uint8Array();
  for (const [side, rate] of SIZES) {
    const env = setup.environments.single();
    const every = Math.max(1, Math.round(frameRateOf(env) / rate));
    const gif = new GifEncoder(rate), parts: Uint8Array<ArrayBuffer>[] = [];
    let scale: number | undefined;
    await playEpisodes(setup, {
      ...options,
      env,
      episodes: 1,
      maxSteps: setup.config.evaluationMaxSteps ?? undefined,
      show(moment) {
        if (moment.step % every !== 0) return;
        if (parts.length >= SECONDS * rate) return false;
        const { width, height } = env.render();
        scale ??= Math.min(1, side / Math.max(width, height));
        const image = env.render({
          width: Math.round(width * scale),
          height: Math.round(height * scale),
        });
        parts.push(gif.add(withCaption(image, captionOf(moment))));
      },
    });
    bytes = await new Blob([...parts, gif.finish()]).bytes();
    if (bytes.length <= WANTED_BYTES) break;
  }
  if (bytes.length <= MOST_PICTURE_BYTES) return bytes;
  throw new Error(`it has ${bytes.length} bytes even when small`);
}
