import type { EpisodeStatistics, StateTree, Statistics } from "@bellman/types";

/** One row of a log. */
export interface LogRow {
  /** Environment steps taken, over all copies. */
  readonly step: number;
  /** The numbers to log, in the order in which to show them. */
  readonly statistics: Statistics;
}

/** An ended episode with the step at which it ended. */
export interface LoggedEpisode extends EpisodeStatistics {
  /** Environment steps taken when the episode ended, over all copies. */
  readonly step: number;
}

/**
 * Somewhere that statistics go. All methods are synchronous, so that what was
 * logged before a checkpoint is in the file before the checkpoint is.
 */
export interface Logger {
  /** Logs one row. */
  write(row: LogRow): void;
  /** Logs one ended episode. */
  writeEpisode?(episode: LoggedEpisode): void;
  /** Brings what was written to the disk. Called before each checkpoint. */
  flush?(): void;
  /** Names the logger in checkpoints; two of one name are told apart by their order. */
  readonly name?: string;
  /** State of what was written so far, for the checkpoint that is made now. */
  save?(): StateTree;
  /**
   * Drops what was logged after `step`. Called when a run is resumed from there, with what `save` gave then.
   *
   * @returns One line for people, if what was logged before is no longer there as it was.
   */
  truncate?(step: number, saved?: StateTree): string | void;
  /** Flushes and releases the file. Closing twice is allowed. */
  close(): void;
}
