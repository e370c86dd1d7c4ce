import type { TrainResult } from "@bellman/training";
import { trainInWorker, type WorkerTraining } from "@bellman/training/worker";
import { assert } from "@std/assert";
import type { RunCalls } from "../run.ts";
import type { Wanted } from "../settings.ts";
import { TASKS } from "../tasks.ts";

/** Trains as the page does, in Deno, and closes the worker after use. */
export async function withRun(
  wanted: Wanted,
  totalTimesteps: number,
  use: (
    training: WorkerTraining<RunCalls>,
    result: TrainResult,
  ) => Promise<void> | void,
): Promise<void> {
  const url = new URL("../trainer.ts", import.meta.url);
  const training = trainInWorker<RunCalls>(url, {
    totalTimesteps,
    settings: wanted,
  });
  try {
    await use(training, await training.result);
  } finally {
    training.close();
  }
}

/** Trains as the page does where nothing is changed, and expects that the goal is reached. */
export async function assertLearns(wanted: Wanted): Promise<void> {
  const { goal, presets } = TASKS[wanted.env];
  const { totalTimesteps } = presets[wanted.algorithm];
  await withRun(wanted, totalTimesteps, (_, { step, lastEvaluation }) => {
    const { meanReturn } = lastEvaluation!;
    const said = `${JSON.stringify(wanted)}: ${meanReturn} at step ${step}`;
    assert(meanReturn >= goal, said);
  });
}
