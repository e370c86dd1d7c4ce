import type {
  CurvesUpdate,
  ExperimentSummary,
  IndexUpdate,
  RunSummary,
  SearchSummary,
} from "../../messages.ts";
import type { Line } from "./groups.ts";

/** Everything that there is, as the index tells it. */
export class Index {
  /** Version, for the next question. */
  version = "";
  /** Runs by id. */
  readonly runs: Map<string, RunSummary> = new Map();
  /** Experiments by id. */
  readonly experiments: Map<string, ExperimentSummary> = new Map();
  /** Searches by id. */
  readonly searches: Map<string, SearchSummary> = new Map();
  /** Lines on folders that cannot be shown. */
  notices: readonly string[] = [];

  /** Takes what is new. */
  apply(update: IndexUpdate): void {
    const maps = [this.runs, this.experiments, this.searches];
    if (update.isWhole) { for (const map of maps) map.clear(); }
    for (const map of maps) for (const id of update.gone) map.delete(id);
    for (const it of update.runs) this.runs.set(it.id, it);
    for (const it of update.experiments) this.experiments.set(it.id, it);
    for (const it of update.searches) this.searches.set(it.id, it);
    this.version = update.version;
    this.notices = update.notices;
  }

  /** Returns all that it holds. */
  whole(): IndexUpdate {
    return {
      version: this.version,
      isWhole: true,
      runs: [...this.runs.values()],
      experiments: [...this.experiments.values()],
      searches: [...this.searches.values()],
      gone: [],
      notices: this.notices,
    };
  }
}

/** Names a run, an experiment or a search: by its folder, or by the root where it is that. */
export function nameOf(
  { name, root }: { readonly name: string; readonly root: string },
): string {
  return name || root;
}

/** New points of a run. */
export type PointsUpdate = Omit<CurvesUpdate, "request">;

/** Points of a run by the names of statistics, and where its log was read up to. */
export interface RunPoints {
  position: string;
  curves: Readonly<Record<string, Line>>;
}

/** Points of runs, by what was asked for. */
export class Points {
  readonly #kept = new Map<string, Map<string, RunPoints>>();

  /** Takes new points: a line that changes is another one afterwards. */
  apply(key: string, update: PointsUpdate): void {
    const { run, isWhole, position, curves } = update;
    const runs = this.#kept.get(key) ?? new Map<string, RunPoints>();
    this.#kept.set(key, runs);
    const before = isWhole ? undefined : runs.get(run)?.curves;
    const joined: Record<string, Line> = { ...before };
    for (const [name, { x, y }] of Object.entries(curves)) {
      const known = before?.[name] ?? { x: [], y: [] };
      joined[name] = { x: known.x.concat(x), y: known.y.concat(y) };
    }
    runs.set(run, { position, curves: joined });
  }

  /** Returns the points of a run, if there are some. */
  of(key: string, run: string): RunPoints | undefined {
    return this.#kept.get(key)?.get(run);
  }

  /** Drops all but what was asked for in some ways. */
  keep(keys: ReadonlySet<string>): void {
    for (const key of this.#kept.keys()) {
      if (!keys.has(key)) this.#kept.delete(key);
    }
  }

  /** Drops the points of runs that are there no more. */
  drop(runs: readonly string[]): void {
    for (const kept of this.#kept.values()) {
      for (const run of runs) kept.delete(run);
    }
  }
}
