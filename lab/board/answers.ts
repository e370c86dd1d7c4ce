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

/** Run, shared agent, experiment or search. Times are milliseconds since 1970. */
export interface ShownFolder {
  /** Id, which stays the same after a restart. */
  id: string;
  kind: FolderKind;
  /** Path below the root, with `/` as separator; empty for the root. */
  name: string;
  /** Root folder, as it was given. */
  root: string;
  /** Id of the experiment or search that contains it. */
  parent?: string;
  state: FolderState;
  /** Reason of the state, if known. */
  reason?: string;
  /** Time of the state: earlier log rows may have been removed then. */
  since: string;
  algorithm: string;
  environment: string;
  seed: number | null;
  /** Environment steps so far, and of the whole run. */
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
  /** Columns of the log. */
  statistics: readonly string[];
  /** A line for each file that cannot be read. */
  problems: readonly string[];
}

/** All folders, and changed ones. */
export interface RunsAnswer {
  /** Version for the next request. */
  version: number;
  /** Ids of all folders. */
  ids: readonly string[];
  /** New or changed folders since the requested version. */
  changed: readonly ShownFolder[];
  /** A line for each folder that is not shown. */
  notices: readonly string[];
}

/** New log rows of a run. */
export interface NewRows {
  /** First row: it and all later rows are replaced. */
  from: number;
  /** Row for the next request. */
  next: number;
  steps: readonly number[];
  /** Values by column; null if there is none. */
  values: Readonly<Record<string, readonly (number | null)[]>>;
}

/** New log rows by run id. */
export type CurvesAnswer = Readonly<Record<string, NewRows>>;

/** File in a run folder. */
export interface FolderFile {
  /** Path in the run folder. */
  path: string;
  bytes: number;
  /** Time of the last change. */
  changed: number;
}
