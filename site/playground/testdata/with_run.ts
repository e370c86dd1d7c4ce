import { trainInWorker, type WorkerTraining } from "@bellman/training/worker";
import type { RunCalls } from "../run.ts";
import type { Wanted } from "../settings.ts";

/** Trains as the page does, in Deno, and closes the worker after use. */
export async function withRun(
  wanted: Wanted,
  totalTimesteps: number,
  use: (training: WorkerTraining<RunCalls>) => Promise<void>,
): Promise<void> {
  const url = new URL("../trainer.ts", import.meta.url);
  const training = trainInWorker<RunCalls>(url, {
    totalTimesteps,
    settings: wanted,
  });
  try {
    await training.result;
    await use(training);
  } finally {
    training.close();
  }
}
