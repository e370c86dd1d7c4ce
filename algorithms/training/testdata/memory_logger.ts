import type { LoggedEpisode, Logger, LogRow } from "../mod.ts";

/** Keeps what it gets. */
export class MemoryLogger implements Logger {
  rows: LogRow[] = [];
  episodes: LoggedEpisode[] = [];
  closed = 0;
  write(row: LogRow): void {
    this.rows.push(row);
  }
  writeEpisode(episode: LoggedEpisode): void {
    this.episodes.push(episode);
  }
  close(): void {
    this.closed++;
  }
}
