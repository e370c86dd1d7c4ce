import { stringify } from "@std/yaml";
import {
  type EvaluationResult,
  readEpisodes,
  readProgress,
  renderReport,
  type RunFolder,
} from "@bellman/training";
import type { ResolvedConfig } from "./config/resolve.ts";
import { fileError } from "./input_errors.ts";
import { writeWhole } from "./whole_file.ts";

/**
 * Writes the run's `report.html`: curves, configuration, final evaluations. A
 * log that is gone or cannot be read is told and left out.
 */
export async function writeReport(
  folder: RunFolder,
  config: ResolvedConfig,
  { evaluations, details, onNotice }: {
    evaluations?: Readonly<Record<string, EvaluationResult>>;
    details: Record<string, string>;
    onNotice: (line: string) => void;
  },
): Promise<void> {
  const rowsOf = <Row extends { step: number }>(
    read: (path: string) => Row[],
    path: string,
  ): Row[] => {
    try {
      return read(path).filter(({ step }) => Number.isFinite(step));
    } catch (error) {
      const why = (fileError(error) ?? error as Error).message;
      onNotice(`${why}; the report is without it`);
      return [];
    }
  };
  const html = renderReport({
    title: `${config.algorithm} on ${config.env}, seed ${config.seed}`,
    progress: rowsOf(readProgress, folder.progressPath),
    episodes: rowsOf(readEpisodes, folder.episodesPath),
    configText: stringify(config),
    evaluations,
    details,
  });
  // Its presence tells that the run has ended.
  await writeWhole(folder.reportPath, html);
}
