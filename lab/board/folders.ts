import { kindOf } from "@bellman/files";
import {
  type ListedFolder,
  listRuns,
  readCurves,
  readLatest,
  type RecordedEvaluation,
} from "@bellman/runs";
import { createHash } from "node:crypto";
import { lstatSync, readdirSync, realpathSync } from "node:fs";
import type {
  CurvesAnswer,
  EvaluationPoint,
  FolderFile,
  NewRows,
  RunsAnswer,
  ShownFolder,
} from "./answers.ts";

/** Milliseconds before folders are read again. */
const FRESH_MS = 300;
/** Subfolders of a run whose files are listed. */
const INNER = ["", "checkpoints", "videos", "plots"];

/** Known folder with its root. */
export interface KnownFolder {
  shown: ShownFolder;
  listed: ListedFolder;
  /** Real path of the root. */
  realRoot: string;
  /** Version of its last change. */
  version: number;
}

/** Everything below the root folders, read on request. */
export class Folders {
  readonly #roots: readonly string[];
  #known = new Map<string, KnownFolder>();
  #byDir = new Map<string, KnownFolder>();
  #notices: string[] = [];
  // Higher than any version of an earlier server.
  #version = Date.now();
  #look: Promise<void> | undefined;
  #lookedAt = -Infinity;

  /** Creates the index of root folders, which may not exist yet. */
  constructor(roots: readonly string[]) {
    this.#roots = roots;
  }

  /** Returns a folder by its id. */
  get(id: string): KnownFolder | undefined {
    return this.#known.get(id);
  }

  /** Reads the folders, and lists changes since a version. */
  async since(version: number): Promise<RunsAnswer> {
    await this.#refresh();
    const folders = [...this.#known.values()];
    return {
      version: this.#version,
      ids: folders.map(({ shown }) => shown.id),
      changed: folders.filter((it) => it.version > version)
        .map(({ shown }) => shown),
      notices: this.#notices,
    };
  }

  async #refresh(): Promise<void> {
    if (performance.now() - this.#lookedAt < FRESH_MS) return;
    this.#look ??= this.#read().finally(() => {
      this.#lookedAt = performance.now();
      this.#look = undefined;
    });
    await this.#look;
  }

  async #read(): Promise<void> {
    const before = this.#byDir, folders = new Map<string, KnownFolder>();
    const notices: string[] = [];
    const known = new Map([...before].map(([dir, it]) => [dir, it.listed]));
    this.#version++;
    for (const root of this.#roots) {
      const onNotice = (line: string) => notices.push(line);
      const realRoot = realRootOf(root);
      if (realRoot === undefined) continue;
      for (const listed of await listRuns(root, { known, onNotice })) {
        const { dir } = listed;
        // Roots may contain each other.
        if (folders.has(dir)) continue;
        const last = before.get(dir);
        folders.set(
          dir,
          last?.listed === listed ? last : {
            shown: shownFolder(listed, { root, realRoot, before: last }),
            listed,
            realRoot,
            version: this.#version,
          },
        );
      }
    }
    this.#byDir = folders;
    this.#known = new Map([...folders.values()].map((it) => [it.shown.id, it]));
    this.#notices = notices;
  }

  /** Reads new rows of runs; those without new ones are left out. */
  curves(
    runs: ReadonlyMap<string, number>,
    { keys, rows }: { keys: readonly string[]; rows: number },
  ): CurvesAnswer {
    const answer: Record<string, NewRows> = {};
    for (const [id, since] of runs) {
      const known = this.#known.get(id);
      if (known === undefined) continue;
      try {
        const { dir } = known.listed, root = known.realRoot;
        const read = readCurves(dir, { since, keys, maxRows: rows, root });
        if (read.from !== since || read.next > since) answer[id] = read;
      } catch {
        // The listed folder tells why it cannot be read.
      }
    }
    return answer;
  }
}

function realRootOf(root: string): string | undefined {
  try {
    return realpathSync(root);
  } catch {
    // It may be made later.
    return undefined;
  }
}

function shownFolder(
  listed: ListedFolder,
  { root, realRoot, before }: {
    root: string;
    realRoot: string;
    before: KnownFolder | undefined;
  },
): ShownFolder {
  const { dir, name, kind, state, record, parent } = listed;
  const problems = [...listed.problems];
  let latest: Record<string, number> = {};
  try {
    if (listed.logStamp !== "") latest = readLatest(dir, { root: realRoot });
  } catch (error) {
    problems.push(
      `its log: ${(error as Error).message.replace(/.*: (?=it )/s, "")}`,
    );
  }
  const settings = record?.settings ?? {};
  const { evaluations, step = 0 } = record ?? {};
  const during = evaluations?.during ?? [];
  const best = evaluations?.best ??
    during.reduce<RecordedEvaluation | undefined>(
      // Ties go to the first one.
      (a, b) => a === undefined || b.meanReturn > a.meanReturn ? b : a,
      undefined,
    );
  const reason = kind === "shared" ? "a shared agent" : record?.reason;
  return {
    id: before?.shown.id ?? idOf(dir),
    kind,
    name,
    root,
    ...parent !== undefined && { parent: idOf(parent) },
    state,
    ...reason !== undefined && state !== "running" && { reason },
    since: record?.since ?? "",
    algorithm: textOf(settings.algorithm),
    environment: textOf(settings.env),
    seed: numberOf(settings.seed),
    step: Math.max(step, numberOf(latest["time/steps"]) ?? 0),
    totalSteps: numberOf(settings.totalTimesteps),
    return: numberOf(latest["rollout/return_mean"]),
    last: pointOf(evaluations?.last ?? during.at(-1)),
    best: pointOf(best),
    stepsPerSecond: numberOf(latest["time/steps_per_second"]),
    seconds: numberOf(latest["time/seconds"]) ?? record?.seconds ?? null,
    begun: record === undefined ? null : numberOf(Date.parse(record.begun)),
    resumes: record?.resumes ?? 0,
    settings,
    statistics: Object.keys(latest),
    problems,
  };
}

/** Makes the id of a folder, the same after a restart. */
function idOf(dir: string): string {
  return createHash("sha256").update(dir).digest("base64url").slice(0, 10);
}

function pointOf(
  point: RecordedEvaluation | undefined,
): EvaluationPoint | null {
  if (point === undefined || !Number.isFinite(point.meanReturn)) return null;
  const { step, meanReturn: value, stdReturn } = point;
  return { step, value, std: numberOf(stdReturn) };
}

function numberOf(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Lists the files of a folder and of a run's subfolders; links are left out. */
export function filesOf({ listed: { dir } }: KnownFolder): FolderFile[] {
  return INNER.flatMap((inner) => {
    const folder = inner === "" ? dir : `${dir}/${inner}`;
    try {
      if (kindOf(lstatSync(folder)) !== "a folder") return [];
      return readdirSync(folder).sort().flatMap((name) => {
        const stats = lstatSync(`${folder}/${name}`);
        const path = inner === "" ? name : `${inner}/${name}`;
        const { size: bytes, mtimeMs: changed } = stats;
        return kindOf(stats) === undefined ? [{ path, bytes, changed }] : [];
      });
    } catch {
      // Missing, or just removed.
      return [];
    }
  });
}
