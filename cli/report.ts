import { stringify } from "@std/yaml";
import {
  type EvaluationResult,
  readEpisodes,
  readProgress,
  renderReport,
  type RunFolder,
} from "@bellman/training";
import type { ResolvedConfig } from "./config/resolve.ts";
import { writeWhole } from "./whole_file.ts";

/** Writes the run's `report.html`: curves, configuration, final evaluations. */
export async function writeReport(
  folder: RunFolder,
  config: ResolvedConfig,
  { evaluations, details }: {
    evaluations?: Readonly<Record<string, EvaluationResult>>;
    details: Record<string, string>;
  },
): Promise<void> {
  const html = renderReport({
    title: `${config.algorithm} on ${config.env}, seed ${config.seed}`,
    progress: readProgress(folder.progressPath),
    episodes: readEpisodes(folder.episodesPath),
    configText: stringify(config),
    evaluations,
    details,
  });
  // Its presence tells that the run has ended.
  await writeWhole(folder.reportPath, html);
}
