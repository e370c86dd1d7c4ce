import {
  CsvLogger,
  EpisodesCsv,
  type Logger,
  type RunFolder,
  TableLogger,
  TensorBoardLogger,
} from "@bellman/training";
import type { CommandIo } from "./io.ts";

/** The loggers of a run: files in its folder, a table unless it is quiet. */
export function loggersOf(
  folder: RunFolder,
  io: CommandIo,
  { quiet }: { quiet: boolean },
): Logger[] {
  const files = [
    new CsvLogger(folder.progressPath),
    new EpisodesCsv(folder.episodesPath),
    new TensorBoardLogger(folder.eventsDir),
  ];
  return quiet ? files : [...files, new TableLogger({ write: io.out })];
}
