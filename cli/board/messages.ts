/**
 * All that passes between the server of `deno task board` and its page. Requests
 * are `GET` with the cookie that the printed address is traded for; answers are
 * JSON unless said otherwise. Texts may be somebody else's: the page shows them as
 * text.
 *
 * | path | answer |
 * | --- | --- |
 * | `/?token=TOKEN` | sets the cookie, leads to `/` |
 * | `/` | the page: `<main id="board">`, `/board.css`, `/board.js` as a module |
 * | `/board.js`, `/board.css`, `/worker.js` | its files |
 * | `/api/index` | {@linkcode IndexUpdate} of everything |
 * | `/api/events?…` | the stream, see below |
 * | `/api/runs/ID` | {@linkcode RunDetails} |
 * | `/api/runs/ID/report` | the run's `report.html`, sandboxed: for a new tab |
 * | `/api/runs/ID/videos/VIDEO` | GIF, for an `<img>`; MP4, for a new tab; or a download |
 * | `/api/experiments/ID` | {@linkcode ExperimentDetails} |
 * | `/api/experiments/ID/report` | its `report.html`, sandboxed |
 * | `/api/experiments/ID/figures/NAME` | SVG, for an `<img>` |
 * | `/api/searches/ID` | {@linkcode SearchDetails} |
 * | `/api/searches/ID/report` | its `search.html`, sandboxed |
 *
 * Any other path is answered by `404`. Views are kept in the fragment of the address
 * (`/#…`), so that each of them is a reload of `/`. Ids are the
 * same after a restart of the server. `403` means that the cookie is missing: the
 * printed address has to be opened again.
 *
 * The stream is an `EventSource` of {@linkcode streamPath}: **one for all tabs of a
 * browser**, opened by the shared worker (`new SharedWorker("/worker.js", { type:
 * "module" })`), as a browser opens six connections at most. A tab tells the worker
 * what it shows; the worker asks for the union. A stream never changes what it sends:
 * when tabs want something else, the worker opens a new one, with the version and the
 * positions that it has by then, and closes the former one. It does the same after an
 * `error` event, some seconds later (not leaving it to the browser, which would
 * ask with the old positions). So nothing that it has is sent again, and nothing
 * is missing. Where there is no `SharedWorker`, a tab opens a stream of its own, and
 * closes it while it is hidden. Streams are closed by the server when nothing has
 * been read from them for a while.
 *
 * What a page does not have yet comes in several `index` events, some runs at a time, of
 * which only the first may say `isWhole`. The id of an event is the version of an `index` event, and `RUN.POSITION` of a
 * `curves` event; the data hold the same values.
 *
 * @module
 */

/** State of a run. */
export type RunState =
  /** Its lock is held. */
  | "running"
  /** It took all of its steps. */
  | "ended"
  /** A rule of its own stopped it, which {@linkcode RunSummary.reason} names. */
  | "stopped"
  /** A signal stopped it; it can be resumed. */
  | "interrupted"
  /** Its process was killed: it left its lock behind. */
  | "killed"
  /** It ended without a result. */
  | "failed"
  /** Another machine had its lock, which cannot be seen from here. */
  | "unknown";

/** Mean return of an evaluation. */
export interface EvaluationPoint {
  /** Environment steps before it. */
  step: number;
  value: number;
}

/** A run, as the table shows it. Times are milliseconds since 1970. */
export interface RunSummary {
  id: string;
  /** Folder below the root, `/` between its parts. */
  name: string;
  /** Root that it is below, as the command line names it. */
  root: string;
  /** Id of the experiment that it is a cell of, if it is one. */
  experiment?: string;
  /** Id of the search that it belongs to, if it does. */
  search?: string;
  state: RunState;
  /** Why it is in this state, where that is known: a rule, an error. */
  reason?: string;
  /** Empty where the configuration cannot be read. */
  algorithm: string;
  environment: string;
  seed: number | null;
  /** Environment steps so far, and those of the whole run. */
  step: number;
  totalSteps: number | null;
  /** Mean return of the last 100 episodes. */
  return: number | null;
  lastEvaluation: EvaluationPoint | null;
  /** Null also where only a whole look at the log would tell. */
  bestEvaluation: EvaluationPoint | null;
  stepsPerSecond: number | null;
  /** Seconds of training so far, and those that are left. */
  seconds: number | null;
  secondsLeft: number | null;
  /** Time at which it was begun. */
  begun: number | null;
  /** Time of its last row. */
  changed: number | null;
  /** The whole configuration. */
  settings: Readonly<Record<string, unknown>>;
  /** Statistics that its log has, in the order of its columns. */
  statistics: readonly string[];
  /** Lines on what is wrong with its folder. */
  problems: readonly string[];
}

/** An experiment, as a list shows it. */
export interface ExperimentSummary {
  id: string;
  /** Folder below the root. */
  name: string;
  root: string;
  /** True where some process runs its cells. */
  isRunning: boolean;
  /** Cells, and those of each state. */
  cells: number;
  finished: number;
  failed: number;
  problems: readonly string[];
}

/** A search, as a list shows it. */
export interface SearchSummary {
  id: string;
  /** Folder below the root. */
  name: string;
  root: string;
  isRunning: boolean;
  algorithm: string;
  environments: readonly string[];
  /** Trials so far, and those that are planned. */
  trials: number;
  plannedTrials: number | null;
  /** Score of the best complete trial. */
  best: number | null;
  problems: readonly string[];
}

/** Answer of `/api/index`, and data of an `index` event. */
export interface IndexUpdate {
  /** Version of the whole index, for {@linkcode Subscription.version}. */
  version: string;
  /** True where what the page has of all three lists is to be dropped first. */
  isWhole: boolean;
  /** New and changed ones; they replace those of the same id. */
  runs: readonly RunSummary[];
  experiments: readonly ExperimentSummary[];
  searches: readonly SearchSummary[];
  /** Ids of those that are there no more. */
  gone: readonly string[];
  /** Lines on folders that cannot be shown, all there are at present. */
  notices: readonly string[];
}

/** Quantity along the horizontal axis. */
export type CurveAxis = "steps" | "time" | "episodes";

/**
 * Thinning of curves with more points than are wanted: the lowest and the highest of
 * some that follow each other, for a curve of its own, or their mean, for curves that
 * are averaged.
 */
export type Thinning = "extremes" | "means";

/** Curves of some statistics of some runs. */
export interface CurveRequest {
  /** Columns of the log, at most 16. */
  statistics: readonly string[];
  x: CurveAxis;
  /** Most points of a curve that was begun before the page looked, 16 to 10,000. */
  points: number;
  thinning: Thinning;
  /** Runs, and the position up to which the page has them, empty for none. */
  runs: ReadonlyMap<string, string>;
}

/** What a stream sends. */
export interface Subscription {
  /** Version of the index that the page has, empty for none; undefined for no index. */
  version?: string;
  /** At most 16. */
  curves: readonly CurveRequest[];
}

/** Points of a curve, those of all statistics at places of their own. */
export interface CurvePoints {
  x: readonly number[];
  y: readonly number[];
}

/** Data of a `curves` event: new points of a run. */
export interface CurvesUpdate {
  /** Place of the request in {@linkcode Subscription.curves}. */
  request: number;
  run: string;
  /** True where the points that the page has of this run and request are to be dropped first. */
  isWhole: boolean;
  /** Position that these points end at, for {@linkcode CurveRequest.runs}. */
  position: string;
  /** By the names of statistics; those without new points are left out. */
  curves: Readonly<Record<string, CurvePoints>>;
}

/** Longest path of a stream that the server takes, with its query. */
export const MOST_STREAM_PATH = 60_000;

/**
 * Makes the path of a stream. For so many runs that it would be too long, the caller
 * leaves out positions, or opens it for those that can be seen.
 */
export function streamPath({ version, curves }: Subscription): string {
  const query = new URLSearchParams();
  if (version !== undefined) query.set("version", version);
  for (const { statistics, x, points, thinning, runs } of curves) {
    query.append(
      "curves",
      [
        x,
        thinning,
        points,
        statistics.map(encoded).join("*"),
        [...runs].map((it) => it.join(".")).join("*"),
      ].join(" "),
    );
  }
  return `/api/events?${query}`;
}

/** Encodes a name so that it holds no `*`, which separates names. */
function encoded(name: string): string {
  return encodeURIComponent(name).replaceAll("*", "%2A");
}

/** A setting, and what it would be by default. */
export interface ChangedSetting {
  key: string;
  value: unknown;
  default: unknown;
}

/** Video of a run's agent. */
export interface RunVideo {
  id: string;
  /** Text such as `Agent after 10,000 steps`. */
  title: string;
  bytes: number;
  /** Time at which it was written; part of the address in the page, so that a new one is seen. */
  changed: number;
}

/** Checkpoint of a run. */
export interface RunCheckpoint {
  /** Step; null for the best one. */
  step: number | null;
  bytes: number;
}

/** An evaluated policy, as `evaluations.json` has it. */
export interface EvaluatedAgent {
  step: number;
  meanReturn: number;
  stdReturn: number;
}

/** Everything about a run but its curves. */
export interface RunDetails {
  summary: RunSummary;
  /** Text of `config.yaml`. */
  configText: string;
  /** Settings that differ from the defaults; null where those are not known. */
  changedSettings: readonly ChangedSetting[] | null;
  checkpoints: readonly RunCheckpoint[];
  videos: readonly RunVideo[];
  hasReport: boolean;
  /** Evaluations of a finished cell or trial. */
  evaluations: { last: EvaluatedAgent; best: EvaluatedAgent } | null;
  /** Times that it was resumed as its process was killed. */
  resumes: number;
  /** Bytes by name: each known file, `checkpoints`, `videos`, `plots`, `others`. */
  disk: Readonly<Record<string, number>>;
  /** Command lines to copy, quoted for a shell, by name: `resume`, `prolong`, `evaluate`, `play`, `export`, `plot`. */
  commands: Readonly<Record<string, string>>;
}

/** State of a cell. */
export type CellState = "missing" | "unfinished" | "finished" | "failed";

/** A cell of an experiment. */
export interface ExperimentCell {
  variant: string;
  environment: string;
  seed: number;
  state: CellState;
  /** Id of its run, once that is there; its summary is in the index. */
  run: string | null;
  /** Mean returns of the last and the best policy of a finished cell. */
  last: number | null;
  best: number | null;
  /** Last line of a failed one. */
  message: string;
}

/** Table of an experiment. */
export interface ExperimentTable {
  title: string;
  caption: string;
  columns: readonly string[];
  rows: readonly (readonly string[])[];
}

/** Figure of an experiment, drawn of the cells that have finished. */
export interface ExperimentFigure {
  /** Name in `/api/experiments/ID/figures/NAME`. */
  name: string;
  title: string;
  caption: string;
}

/** Everything about an experiment. */
export interface ExperimentDetails {
  summary: ExperimentSummary;
  cells: readonly ExperimentCell[];
  /** Lines on what is left out. */
  notices: readonly string[];
  tables: readonly ExperimentTable[];
  figures: readonly ExperimentFigure[];
  hasReport: boolean;
}

/** A trial of a search. */
export interface SearchTrial {
  number: number;
  params: Readonly<Record<string, unknown>>;
  state: "running" | "complete" | "pruned" | "failed";
  /** Score of a complete trial, otherwise that of its last evaluation. */
  value: number | null;
  /** Last line of a failed one. */
  message: string;
  /** Evaluations of each of its runs. */
  evaluations: readonly (readonly EvaluationPoint[])[];
}

/** Everything about a search. */
export interface SearchDetails {
  summary: SearchSummary;
  /** Name of the score. */
  scoreName: string;
  trials: readonly SearchTrial[];
  /** Names of the searched settings; true for a logarithmic axis. */
  space: Readonly<Record<string, boolean>>;
  /**
   * Part of the variance of the scores' ranks that each setting explains alone, 0 to
   * 1; empty for fewer than 8 complete trials. `search.html` has those that Optuna
   * measures.
   */
  importances: Readonly<Record<string, number>>;
  /** Text of `best.yaml`, once there is one. */
  bestText: string | null;
  hasReport: boolean;
}
