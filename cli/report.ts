import {
  type EvaluationResult,
  readEpisodes,
  readProgress,
  renderReport,
  type RunFolder,
} from "@bellman/training";
import type { ResolvedConfig } from "./config/resolve.ts";
import { writeWhole } from "./whole_file.ts";

/** Writes the run's `report.html`: curves, configuration, evaluation. */
export async function writeReport(
  folder: RunFolder,
  config: ResolvedConfig,
  { evaluation, details }: {
    evaluation?: EvaluationResult;
    details: Record<string, string>;
  },
): Promise<void> {
  const html = renderReport({
    title: `${config.algorithm} on ${config.env}, seed ${config.seed}`,
    progress: readProgress(folder.progressPath),
    episodes: readEpisodes(folder.episodesPath),
    configText: await Deno.readTextFile(folder.configPath),
    evaluation,
    details,
  });
  // Its presence tells that the run has ended.
  await writeWhole(folder.reportPath, html);
}
