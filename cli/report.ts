import {
  type EvaluationResult,
  readEpisodes,
  readProgress,
  renderReport,
  type RunFolder,
} from "@bellman/training";
import type { ResolvedConfig } from "./config/resolve.ts";

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
  // Renamed when it is whole: its presence tells that the run has ended.
  const unfinished = `${folder.reportPath}.tmp`;
  await Deno.writeTextFile(unfinished, html);
  await Deno.rename(unfinished, folder.reportPath);
}
