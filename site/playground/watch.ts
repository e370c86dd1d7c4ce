/// <reference lib="dom" />
import type { WorkerTraining } from "@bellman/training/worker";
import { nextFrame, type Screen } from "./dom.ts";
import type { RunCalls } from "./run.ts";

/**
 * Shows the present policy of a training at the environment's pace, until it is closed.
 *
 * @param training Training whose worker draws.
 * @param screen Where the pictures go.
 * @param isShown Tells frame by frame if one is asked for.
 */
export async function watch(
  training: WorkerTraining<RunCalls>,
  screen: Screen,
  isShown: () => boolean,
): Promise<void> {
  let last = performance.now();
  for (;;) {
    const now = await nextFrame();
    if (isShown()) {
      const picture = await training.call("watch", (now - last) / 1000);
      screen.draw([picture]);
    }
    last = now;
  }
}
