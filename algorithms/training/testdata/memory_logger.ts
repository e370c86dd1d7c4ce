import type {
  Hyperparameters,
  LoggedEpisode,
  Logger,
  LogRow,
  RunEnd,
} from "../mod.ts";

/** Keeps what it gets. */
export class MemoryLogger implements Logger {
  rows: LogRow[] = [];
  episodes: LoggedEpisode[] = [];
  settings: Hyperparameters[] = [];
  ends: RunEnd[] = [];
  closed = 0;
  writeHyperparameters(settings: Hyperparameters): void {
    this.settings.push(settings);
  }
  write(row: LogRow): void {
    this.rows.push(row);
  }
  writeEpisode(episode: LoggedEpisode): void {
    this.episodes.push(episode);
  }
  writeEnd(status: RunEnd): void {
    this.ends.push(status);
  }
  close(): void {
    this.closed++;
  }
}
