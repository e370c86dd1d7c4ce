/// <reference lib="dom" />
import type { WorkerTraining } from "@bellman/training/worker";
import type { RgbImage } from "@bellman/types";
import { nextFrame } from "./dom.ts";
import type { RunCalls } from "./run.ts";

/**
 * Shows the present policy of a training at the environment's pace, until it is closed.
 *
 * @param training Training whose worker draws.
 * @param draw Draws a picture.
 * @param isShown Tells frame by frame if one is asked for.
 */
export async function watch(
  training: WorkerTraining<RunCalls>,
  draw: (picture: RgbImage) => void,
  isShown: () => boolean,
): Promise<void> {
  let last = performance.now();
  for (;;) {
    const now = await nextFrame();
    if (isShown()) {
      draw(await training.call("watch", (now - last) / 1000));
    }
    last = now;
  }
}
