import { Turns } from "./curves.ts";
import { discover, type Found } from "./discovery.ts";
import { ExperimentEntry } from "./experiments.ts";
import type {
  ExperimentSummary,
  IndexUpdate,
  RunSummary,
  SearchSummary,
} from "./messages.ts";
import { RunEntry } from "./run_entry.ts";
import { SearchEntry } from "./searches.ts";

/** Changes of which the oldest are dropped: who knows less gets everything. */
const MOST_GONE = 10_000;

/** A summary, or that one is gone, with the number of the change. */
type Change =
  & { number: number }
  & (
    | { kind: "run"; it: RunSummary }
    | { kind: "experiment"; it: ExperimentSummary }
    | { kind: "search"; it: SearchSummary }
    | { kind: "gone"; it: string }
  );

/** What is known of the runs, experiments and searches below some roots. */
export class BoardIndex {
  /** The runs, by id. */
  readonly runs = new Map<string, RunEntry>();
  /** The experiments, by id. */
  readonly experiments = new Map<string, ExperimentEntry>();
  /** The searches, by id. */
  readonly searches = new Map<string, SearchEntry>();
  readonly #roots: readonly string[];
  readonly #turns = new Turns();
  /** Differs between two starts of the server. */
  #epoch = newEpoch();
  #number = 0;
  /** The latest change of each id, oldest first. */
  #changes = new Map<string, Change>();
  #gone = 0;
  #notices: string[] = [];

  constructor(roots: readonly string[]) {
    this.#roots = roots;
  }

  /** True where a run is to be looked at often. */
  get isLive(): boolean {
    for (const run of this.runs.values()) if (run.isLive) return true;
    return false;
  }

  /** Looks for folders that came or went, and at all that are there. */
  async lookAtAll(): Promise<void> {
    const { found, notices } = discover(this.#roots, this.runs);
    this.#notices = notices;
    for (const entries of [this.runs, this.experiments, this.searches]) {
      for (const [id, entry] of entries as Map<string, { id: string }>) {
        if (found.has(id) && this.#kindOf(entry) === found.get(id)!.kind) {
          continue;
        }
        entries.delete(id);
        this.#change(id, { kind: "gone", it: id });
        this.#gone++;
      }
    }
    for (const it of found.values()) this.#add(it);
    await this.#lookAtRuns([...this.runs.values()]);
    for (const it of this.experiments.values()) {
      const summary = await it.look(this.runs);
      if (summary) this.#change(it.id, { kind: "experiment", it: summary });
      await this.#turns.take();
    }
    for (const it of this.searches.values()) {
      const summary = await it.look();
      if (summary) this.#change(it.id, { kind: "search", it: summary });
      await this.#turns.take();
    }
    if (this.#gone > MOST_GONE) this.#forget();
  }

  /** Looks at the runs that run. */
  async lookAtLive(): Promise<void> {
    await this.#lookAtRuns([...this.runs.values()].filter((it) => it.isLive));
  }

  /**
   * Lists what has changed since a version.
   *
   * @param version The version, empty for none.
   * @param most Most things to list; the others follow the version that is returned.
   */
  since(version: string, most = Infinity): IndexUpdate {
    const [epoch, text] = version.split("-");
    const known = epoch === this.#epoch ? Number.parseInt(text, 36) : NaN;
    const isWhole = !(known <= this.#number);
    const changes = [...this.#changes.values()]
      .filter(({ number, kind }) => isWhole ? kind !== "gone" : number > known);
    const sent = changes.slice(0, most);
    const last = sent.length < changes.length
      ? sent.at(-1)!.number
      : this.#number;
    const update: IndexUpdate & {
      runs: RunSummary[];
      experiments: ExperimentSummary[];
      searches: SearchSummary[];
      gone: string[];
    } = {
      version: `${this.#epoch}-${last.toString(36)}`,
      isWhole,
      runs: [],
      experiments: [],
      searches: [],
      gone: [],
      notices: this.#notices,
    };
    for (const { kind, it } of sent) {
      if (kind === "run") update.runs.push(it);
      else if (kind === "experiment") update.experiments.push(it);
      else if (kind === "search") update.searches.push(it);
      else update.gone.push(it);
    }
    return update;
  }

  /** Returns true where something has changed since a version. */
  isNewerThan(version: string): boolean {
    return version !== `${this.#epoch}-${this.#number.toString(36)}`;
  }

  #kindOf(entry: unknown): Found["kind"] {
    if (entry instanceof RunEntry) return "run";
    return entry instanceof SearchEntry ? "search" : "experiment";
  }

  #add({ kind, id, place, parents }: Found): void {
    if (kind === "run") {
      if (!this.runs.has(id)) this.runs.set(id, new RunEntry(place, parents));
    } else if (kind === "experiment") {
      if (this.experiments.has(id)) return;
      this.experiments.set(id, new ExperimentEntry(place));
    } else if (!this.searches.has(id)) {
      this.searches.set(id, new SearchEntry(place));
    }
  }

  async #lookAtRuns(runs: readonly RunEntry[]): Promise<void> {
    for (const run of runs) {
      const { id } = run;
      const isChanged = await run.look();
      // It may be gone by now.
      if (isChanged && this.runs.get(id) === run) {
        this.#change(id, { kind: "run", it: run.summary });
      }
      await this.#turns.take();
    }
  }

  #change(id: string, change: Omit<Change, "number">): void {
    this.#changes.delete(id);
    this.#changes.set(id, { ...change, number: ++this.#number } as Change);
  }

  /** Drops what is gone; whoever has it gets everything. */
  #forget(): void {
    this.#epoch = newEpoch();
    this.#gone = 0;
    for (const [id, { kind }] of this.#changes) {
      if (kind === "gone") this.#changes.delete(id);
    }
  }
}

function newEpoch(): string {
  return crypto.randomUUID().replaceAll("-", "").slice(0, 12);
}
