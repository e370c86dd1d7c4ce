import {
  AGENT_FILE,
  EVALUATIONS_CSV,
} from "../../lab/runs/settings/shared_folder.ts";
import type { RunRecord } from "@bellman/runs";
import { createHash } from "node:crypto";
import { asLine } from "../../lab/runs/program/errors.ts";
import {
  type Entry,
  type InsideFile,
  lookAt,
  MOST_BYTES,
  namesIn,
  problemOf,
} from "./inside.ts";
import { type LockState, lockState } from "./lock_state.ts";
import { type LogEnd, readLogEnd } from "./log_end.ts";
import type { EvaluationPoint, RunState, RunSummary } from "./messages.ts";
import {
  type FinishedEvaluations,
  finishedIn,
  readBestEvaluation,
  readEvaluated,
  readLine,
  readRunRecord,
  readSettings,
  readStopReason,
  type RunSettings,
} from "./run_files.ts";

/** Folder below one of the roots. */
export interface Place {
  /** Root as the command line names it, and its real path. */
  root: string;
  realRoot: string;
  /** Path below it, `/` between its parts; empty for the root itself. */
  name: string;
}

/** Returns the real path of a place, as far as the root's goes. */
export function dirOf({ realRoot, name }: Place): string {
  return name === "" ? realRoot : `${realRoot}/${name}`;
}

/** Returns the path of a place as a command line names it. */
export function givenPath({ root, name }: Place): string {
  return name === "" ? root : `${root.replace(/\/+$/, "")}/${name}`;
}

/** Returns a file of a place. */
export function fileIn(
  place: Place,
  name: string,
  most: number = MOST_BYTES.text,
): InsideFile {
  return { root: place.realRoot, path: `${dirOf(place)}/${name}`, most };
}

/** Makes the id of a place, which is the same whenever the board is started. */
export function idOf(place: Place): string {
  return createHash("sha256").update(dirOf(place)).digest("base64url")
    .slice(0, 10);
}

/** Files that make the folder of a run, which is the only one that has them. */
const OF_RUN = ["run.json", "progress.csv", "run.lock", "failure.txt"];

/** Returns true for the names in a run's folder. */
export function isRun(names: ReadonlySet<string>): boolean {
  return OF_RUN.some((it) => names.has(it)) ||
    names.has("config.yaml") &&
      ["checkpoints", AGENT_FILE].some((it) => names.has(it));
}

/** Log of a run. */
const LOG = "progress.csv";

/** Milliseconds after its last row for which a run is looked at often. */
const FRESH_MS = 60_000;

/**
 * Milliseconds within which a second change of a folder may leave its time as it was:
 * the coarsest clock of a file system, that of FAT.
 */
const CLOCK_MS = 2000;

/** What the files of a run hold; read again where they change. */
interface Contents {
  config: RunSettings;
  record: RunRecord;
  log: LogEnd | undefined;
  reason: string | undefined;
  failure: string;
  best: EvaluationPoint | undefined;
  evaluated: FinishedEvaluations;
}

/** A file that is read, and how. */
interface Reading<T> {
  name: string;
  most?: number;
  read: (file: InsideFile) => T;
}

const READINGS: { [Part in keyof Contents]: Reading<Contents[Part]> } = {
  config: { name: "config.yaml", read: readSettings },
  record: { name: "run.json", most: MOST_BYTES.log, read: readRunRecord },
  log: { name: LOG, most: MOST_BYTES.log, read: readLogEnd },
  reason: {
    name: "report.html",
    most: MOST_BYTES.report,
    read: readStopReason,
  },
  failure: { name: "failure.txt", read: readLine },
  best: {
    name: "checkpoints/best.safetensors",
    most: Infinity,
    read: readBestEvaluation,
  },
  evaluated: { name: "evaluations.json", read: readEvaluated },
};
const PARTS = Object.keys(READINGS) as (keyof Contents)[];

/** A run's folder, and what was found in it when it was looked at. */
export class RunEntry {
  readonly place: Place;
  readonly id: string;
  /** Ids of the experiment and the search that it belongs to. */
  readonly parents: Pick<RunSummary, "experiment" | "search">;
  /** The log, as it was found: it differs where there is something new. */
  logStamp = "";
  #folder = "";
  /** False where the names may change without the folder's time. */
  #isSettled = false;
  #names: ReadonlySet<string> = new Set();
  #lock: LockState = "none";
  #contents: Partial<Contents> = {};
  #stamps = new Map<keyof Contents, string>();
  #problems = new Map<string, string>();
  #begun: number | null = null;
  #changed: number | null = null;
  #summary: RunSummary | undefined;

  constructor(place: Place, parents: RunEntry["parents"]) {
    this.place = place;
    this.id = idOf(place);
    this.parents = parents;
  }

  /** True where it is to be looked at often: it runs, or did so a moment ago. */
  get isLive(): boolean {
    return this.#lock === "held" ||
      Date.now() - (this.#changed ?? 0) < FRESH_MS;
  }

  /** What the table shows of it. */
  get summary(): RunSummary {
    return this.#summary ??= this.#summarize();
  }

  /** Evaluations after the training of a cell or a trial. */
  get evaluated(): FinishedEvaluations | undefined {
    const { record, evaluated } = this.#contents;
    return record === undefined ? evaluated : finishedIn(record);
  }

  /** Last line of a cell that failed. */
  get failure(): string | undefined {
    const { record, failure } = this.#contents;
    if (record === undefined) return failure;
    const { state, reason = "" } = record;
    return state === "failed" ? asLine(reason) : undefined;
  }

  /** Record of the run; undefined where it has none that can be read. */
  get record(): RunRecord | undefined {
    return this.#contents.record;
  }

  /** Configuration, as far as it could be read. */
  get config(): RunSettings | undefined {
    return this.#contents.config;
  }

  /** True for an agent that was cut out of a run to be shared. */
  get isShared(): boolean {
    return this.#names.has(AGENT_FILE) && !this.#names.has(LOG);
  }

  /** Name of the log: of a shared agent's, its evaluations are left. */
  get logName(): string {
    return this.isShared ? EVALUATIONS_CSV : LOG;
  }

  /** True where a file of that name was found in its folder. */
  has(name: string): boolean {
    return this.#names.has(name);
  }

  /**
   * Looks at the folder again.
   *
   * @returns True where something has changed.
   */
  async look(): Promise<boolean> {
    const dir = dirOf(this.place);
    const folder = lookAt(dir, ".");
    // It is gone, as the next look at everything will find.
    if (folder === undefined) return false;
    const { stamp, changed } = folder, before = this.#names;
    if (this.#folder !== stamp || !this.#isSettled) {
      this.#isSettled = Date.now() - changed >= CLOCK_MS;
      this.#names = namesIn(dir).names;
    }
    const log = this.#names.has(this.logName)
      ? lookAt(dir, this.logName)
      : undefined;
    const isChanged = this.#folder !== stamp ||
      this.#names.symmetricDifference(before).size > 0 ||
      this.logStamp !== (log?.stamp ?? "");
    const lock = isChanged || this.#names.has("run.lock")
      ? await lockState(dir, "run.lock")
      : this.#lock;
    if (!isChanged && lock === this.#lock) return false;
    this.#folder = stamp;
    this.#lock = lock;
    this.logStamp = log?.stamp ?? "";
    this.#changed = log?.changed ?? null;
    for (const part of PARTS) {
      this.#read(part, part === "log" ? log : undefined);
    }
    this.#summary = undefined;
    return true;
  }

  /** Reads a file again, if it is another one than it was. */
  #read<Part extends keyof Contents>(part: Part, found?: Entry): void {
    const { most, read, ...reading }: Reading<Contents[Part]> = READINGS[part];
    const name = part === "log" ? this.logName : reading.name;
    const entry = this.#names.has(name.split("/")[0])
      ? found ?? lookAt(dirOf(this.place), name)
      : undefined;
    const stamp = entry?.stamp ?? "";
    if (part === "config") this.#begun = entry?.changed ?? this.#begun;
    if (this.#stamps.get(part) === stamp) return;
    this.#stamps.set(part, stamp);
    this.#problems.delete(name);
    delete this.#contents[part];
    if (entry === undefined) return;
    try {
      this.#contents[part] = read(fileIn(this.place, name, most));
    } catch (error) {
      this.#problems.set(name, problemOf(error));
    }
  }

  #state(): Pick<RunSummary, "state" | "reason"> {
    const { record, reason, failure } = this.#contents;
    if (this.#lock === "held") return { state: "running" };
    if (record !== undefined) return this.#recordedState(record);
    if (failure !== undefined) return { state: "failed", reason: failure };
    if (reason !== undefined) return stateOf(reason);
    if (this.isShared) return { state: "ended", reason: "a shared agent" };
    if (this.#contents.evaluated !== undefined) return { state: "ended" };
    if (this.#lock === "left") return { state: "killed" };
    if (this.#lock === "unclear") return { state: "unknown" };
    // Training had ended when a signal came.
    return this.#isTrained
      ? { state: "interrupted", reason: "before its last evaluation" }
      : { state: "failed", reason: "it ended without a report" };
  }

  /** State that a record tells of, whatever else lies beside it. */
  #recordedState(
    { state, reason: text }: RunRecord,
  ): Pick<RunSummary, "state" | "reason"> {
    const reason = text === undefined ? "completed" : asLine(text);
    if (state === "failed") return { state, reason };
    if (state !== "running") return stateOf(reason);
    return { state: this.#lock === "unclear" ? "unknown" : "killed" };
  }

  get #isTrained(): boolean {
    const { config, log } = this.#contents;
    const total = numberOf(config?.settings.totalTimesteps);
    return total !== null && (log?.step ?? 0) >= total;
  }

  #summarize(): RunSummary {
    const { config, log, best } = this.#contents;
    const settings = config?.settings ?? {};
    const { state, reason } = this.#state();
    const totalSteps = numberOf(settings.totalTimesteps);
    const step = log?.step ?? 0, rate = log?.stepsPerSecond ?? null;
    const left = state === "running" && totalSteps !== null && rate
      ? Math.max(0, totalSteps - step) / rate
      : null;
    return {
      id: this.id,
      name: this.place.name,
      root: this.place.root,
      ...this.parents,
      state,
      ...reason !== undefined && { reason },
      algorithm: textOf(settings.algorithm),
      environment: textOf(settings.env),
      seed: numberOf(settings.seed),
      step,
      totalSteps,
      return: log?.return ?? null,
      lastEvaluation: log?.lastEvaluation ?? null,
      bestEvaluation: log?.isWhole ? log.bestEvaluation : best ?? null,
      stepsPerSecond: rate,
      seconds: log?.seconds ?? null,
      secondsLeft: left,
      begun: this.#begun,
      changed: this.#changed,
      settings,
      statistics: log?.statistics ?? [],
      problems: [...this.#problems].map(([name, why]) => `${name}: ${why}`),
    };
  }
}

/** Returns the state of a run that has a report. */
function stateOf(reason: string): { state: RunState; reason?: string } {
  if (reason === "completed") return { state: "ended" };
  if (reason === "interrupted") return { state: "interrupted" };
  return { state: "stopped", reason };
}

function numberOf(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
