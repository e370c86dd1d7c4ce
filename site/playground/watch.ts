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
 * @param isShown Returns true where a picture is asked for.
 */
export async function watch(
  training: WorkerTraining<RunCalls>,
  draw: (picture: RgbImage) => void,
  isShown: () => boolean,
): Promise<void> {
  let last = performance.now();
  for (;;) {
    // Frames cost something even where nothing is drawn.
    await (isShown() ? nextFrame() : moment());
    const now = performance.now();
    if (isShown()) draw(await training.call("watch", (now - last) / 1000));
    last = now;
  }
}

/** Waits a little, for what is not shown. */
const moment = () => new Promise((resolve) => setTimeout(resolve, 200));
