import type { RunSettings } from "../folder/record.ts";
import { resolveWithModules } from "../settings/resolve.ts";
import { beginRun } from "./begin_training.ts";
import type { RunOutput } from "./training_run.ts";

/** Options of `trainRun`. */
export interface TrainRunOptions extends RunOutput {
  /**
   * Folder of the run, new or empty.
   *
   * @default a new one below runs/
   */
  dir?: string;
}

/** Trains a new run to its end, and returns its folder. */
export async function trainRun(
  { algorithm, preset, ...settings }: RunSettings,
  { dir, ...output }: TrainRunOptions,
): Promise<string> {
  const { onNotice = () => {} } = output;
  const config = await resolveWithModules(
    algorithm === undefined ? undefined : String(algorithm),
    {
      preset: preset === undefined ? undefined : String(preset),
      entries: Object.entries(settings),
    },
    // The caller names its own code: nothing is refused.
    { onNotice },
  );
  let folder = "";
  await beginRun(config, output, { out: dir, onFolder: (it) => folder = it });
  return folder;
}
