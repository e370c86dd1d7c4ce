/**
 * All that passes between the server of the board and its page. Requests are `GET`
 * with the cookie that the printed address is traded for; answers are JSON. Texts may
 * be somebody else's: the page shows them as text.
 *
 * | path | answer |
 * | --- | --- |
 * | `/`, `/board.js`, `/board.css` | the page; `/?token=TOKEN` sets the cookie |
 * | `/api/runs?since=VERSION` | {@linkcode RunsAnswer}: what is new since that version |
 * | `/api/curves?runs=IDS&since=ROWS&keys=NAME&rows=N` | {@linkcode CurvesAnswer} |
 * | `/api/runs/ID` | {@linkcode FolderFile} of all its files |
 * | `/api/runs/ID/FILE` | a video, a plot, a report |
 *
 * @module
 */
import type { FolderKind, FolderState } from "@bellman/runs";

/** Mean return of an evaluation. */
export interface EvaluationPoint {
  /** Environment steps before it. */
  step: number;
  value: number;
  /** Standard deviation. */
  std: number | null;
}

/** A run, a shared agent, an experiment or a search. Times are milliseconds since 1970. */
export interface ShownFolder {
  /** Id, the same after a restart. */
  id: string;
  kind: FolderKind;
  /** Folder below the root, `/` between its parts; empty for the root itself. */
  name: string;
  /** Root that it is below, as it was given. */
  root: string;
  /** Id of the experiment or search that it belongs to. */
  parent?: string;
  state: FolderState;
  /** Reason of the state, where it is known. */
  reason?: string;
  /** Time of the state: what was written before may have been cut back then. */
  since: string;
  algorithm: string;
  environment: string;
  seed: number | null;
  /** Environment steps so far, and those of the whole run. */
  step: number;
  totalSteps: number | null;
  /** Mean return of the last 100 episodes. */
  return: number | null;
  last: EvaluationPoint | null;
  best: EvaluationPoint | null;
  stepsPerSecond: number | null;
  /** Seconds of training so far. */
  seconds: number | null;
  begun: number | null;
  resumes: number;
  settings: Readonly<Record<string, unknown>>;
  /** Columns of its log. */
  statistics: readonly string[];
  /** Lines on what cannot be read. */
  problems: readonly string[];
}

/** What there is, and what is new. */
export interface RunsAnswer {
  /** Version to ask with next. */
  version: number;
  /** Ids of all that there are. */
  ids: readonly string[];
  /** Those that are new or have changed since the version that was asked with. */
  changed: readonly ShownFolder[];
  /** Lines on folders that are not shown. */
  notices: readonly string[];
}

/** New rows of a run. */
export interface NewRows {
  /** First row: all from it on are replaced. */
  from: number;
  /** Row to ask for next. */
  next: number;
  steps: readonly number[];
  /** Values by column; null where there is none. */
  values: Readonly<Record<string, readonly (number | null)[]>>;
}

/** New rows by the ids of runs. */
export type CurvesAnswer = Readonly<Record<string, NewRows>>;

/** A file of a run, or of a folder in it. */
export interface FolderFile {
  /** Path in the folder of the run. */
  path: string;
  bytes: number;
  /** Time at which it was written. */
  changed: number;
}
