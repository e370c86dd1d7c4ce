/// <reference lib="dom" />
import { drawable } from "@bellman/statistics";
import type {
  CurvesAnswer,
  FolderFile,
  NewRows,
  RunsAnswer,
  ShownFolder,
} from "../answers.ts";
import type { View } from "./address.ts";
import type { Line } from "./groups.ts";

/** Milliseconds between two requests. */
const PAUSE_MS = 2_000;
/** Largest number of runs in a request. */
const MOST_RUNS = 100;

/** Columns of the horizontal axes. */
const AXES: Readonly<Record<View["x"], string>> = {
  steps: "time/steps",
  time: "time/seconds",
  episodes: "time/episodes",
};

/** Curves to draw. */
export interface Wish {
  runs: readonly ShownFolder[];
  statistics: readonly string[];
  x: View["x"];
  /** Largest number of rows of a run that started before the page was opened. */
  rows: number;
}

const MESSAGES: Readonly<Record<number, string>> = {
  403:
    "The board does not know this browser: open the address that the command printed",
};

async function ask<Answer>(path: string): Promise<Answer> {
  const response = await fetch(path);
  if (response.ok) return await response.json();
  throw new Error(
    MESSAGES[response.status] ?? `The board answers ${response.status}`,
  );
}

/** Fetches the list of a folder's files. */
export function askFiles(id: string): Promise<FolderFile[]> {
  return ask(`/api/runs/${id}`);
}

/** Known rows of a run. */
class RunRows {
  readonly run: ShownFolder;
  readonly next: number;
  readonly #steps: readonly number[];
  readonly #values: NewRows["values"];
  readonly #lines = new Map<string, Line>();

  constructor(
    run: ShownFolder,
    { next, steps, values }: Omit<NewRows, "from">,
  ) {
    this.run = run;
    this.next = next;
    this.#steps = steps;
    this.#values = values;
  }

  get count(): number {
    return this.#steps.length;
  }

  /** Returns the rows with new ones added, of the same or more columns. */
  with(run: ShownFolder, rows: NewRows | undefined): RunRows {
    if (rows === undefined) {
      const same = new RunRows(run, {
        next: this.next,
        steps: this.#steps,
        values: this.#values,
      });
      for (const [key, line] of this.#lines) same.#lines.set(key, line);
      return same;
    }
    if (rows.from !== this.next) return new RunRows(run, rows);
    const missing = (count: number) => Array<null>(count).fill(null);
    const { length } = this.#steps;
    const values = Object.fromEntries(
      Object.entries(rows.values).map(([name, more]) => [
        name,
        [...this.#values[name] ?? missing(length), ...more],
      ]),
    );
    const steps = [...this.#steps, ...rows.steps];
    return new RunRows(run, { next: rows.next, steps, values });
  }

  /** Returns the points of a statistic, the same object while they do not change. */
  line(statistic: string, axis: View["x"]): Line {
    const key = `${axis} ${statistic}`, known = this.#lines.get(key);
    if (known !== undefined) return known;
    const line: Line = { x: [], y: [] };
    const places = axis === "steps" ? this.#steps : this.#values[AXES[axis]];
    const heights = this.#values[statistic] ?? [];
    let at = NaN, last = -Infinity;
    heights.forEach((height, i) => {
      // Evaluations have no time of their own: that of the row before is used.
      at = places?.[i] ?? at;
      if (height === null || !(at > last)) return;
      line.x.push(last = drawable(at));
      line.y.push(drawable(height));
    });
    this.#lines.set(key, line);
    return line;
  }
}

/** Fetches and keeps updates while the page is visible. */
export class Client {
  /** All folders by id. */
  readonly folders: Map<string, ShownFolder> = new Map();
  /** A line for each folder that is not shown. */
  notices: readonly string[] = [];
  /** True after the first response. */
  isRead = false;
  /** Reason why no updates arrive; empty if they do. */
  problem = "";
  readonly #onChange: () => void;
  #version = 0;
  #wish: Wish = { runs: [], statistics: [], x: "steps", rows: 0 };
  #wishKey = "";
  /** Drawn rows, and those that replace them once complete. */
  #rows = new Map<string, RunRows>();
  #coming: Map<string, RunRows> | undefined;
  #wake = () => {};
  #isWoken = false;

  /** Starts to fetch updates. */
  constructor(onChange: () => void) {
    this.#onChange = onChange;
    document.addEventListener("visibilitychange", () => this.#wake());
    this.#run();
  }

  /** Sets the curves to draw. */
  want(wish: Wish): void {
    this.#wish = wish;
    const key = JSON.stringify([wish.statistics, wish.x, wish.rows]);
    const isNew = key !== this.#wishKey ||
      wish.runs.some(({ id }) => !this.#rows.has(id));
    if (key !== this.#wishKey) this.#coming = new Map();
    this.#wishKey = key;
    if (!isNew || wish.statistics.length === 0) return;
    this.#isWoken = true;
    this.#wake();
  }

  /** Returns the points of a run's statistic, as far as they are known. */
  line(id: string, statistic: string, axis: View["x"]): Line | undefined {
    const line = this.#rows.get(id)?.line(statistic, axis);
    return line === undefined || line.x.length === 0 ? undefined : line;
  }

  async #run(): Promise<void> {
    for (;;) {
      this.#isWoken = false;
      const before = this.problem;
      let isChanged = false;
      try {
        isChanged = await this.#readRuns();
        // They determine what is drawn.
        if (isChanged) this.#onChange();
        isChanged = await this.#readCurves();
        this.problem = "";
      } catch (error) {
        this.problem = error instanceof TypeError
          ? "No connection to the board: trying again"
          : (error as Error).message;
      }
      if (isChanged || this.problem !== before) this.#onChange();
      await this.#pause();
    }
  }

  /** Waits for two seconds, until other curves are wanted, and while the page is hidden. */
  async #pause(): Promise<void> {
    do {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, PAUSE_MS);
      this.#wake = resolve;
      if (this.#isWoken) resolve();
      await promise;
      clearTimeout(timer);
    } while (document.hidden);
  }

  async #readRuns(): Promise<boolean> {
    const answer = await ask<RunsAnswer>(`/api/runs?since=${this.#version}`);
    const ids = new Set(answer.ids);
    // The server was restarted, with an earlier clock.
    if (answer.version < this.#version) this.folders.clear();
    const isChanged = !this.isRead || answer.changed.length > 0 ||
      ids.size !== this.folders.size;
    for (const id of this.folders.keys()) {
      if (!ids.has(id)) this.folders.delete(id);
    }
    for (const it of answer.changed) this.folders.set(it.id, it);
    this.notices = answer.notices;
    this.#version = answer.version;
    this.isRead = true;
    return isChanged;
  }

  /** Fetches new rows of changed runs. */
  async #readCurves(): Promise<boolean> {
    const { runs, statistics, x, rows } = this.#wish;
    const rowsOf = this.#coming ?? this.#rows, key = this.#wishKey;
    if (statistics.length === 0) return false;
    const stale = runs.filter((it) => rowsOf.get(it.id)?.run !== it);
    const keys = [...new Set([...statistics, AXES[x]])];
    for (let i = 0; i < stale.length; i += MOST_RUNS) {
      const some = stale.slice(i, i + MOST_RUNS);
      const query = new URLSearchParams(keys.map((it) => ["keys", it]));
      query.set("rows", String(rows));
      const since = some.map((run) => {
        const known = rowsOf.get(run.id);
        // A resumed run may have lost rows; too many rows are thinned.
        return known?.run.since !== run.since || known.count > 4 * rows
          ? 0
          : known.next;
      });
      query.set("runs", some.map(({ id }) => id).join());
      query.set("since", since.join());
      const answer = await ask<CurvesAnswer>(`/api/curves?${query}`);
      // Other curves are wanted by now.
      if (key !== this.#wishKey) return true;
      some.forEach((run, k) => {
        const known = rowsOf.get(run.id), fresh = answer[run.id];
        const empty = { next: 0, steps: [], values: {} };
        rowsOf.set(
          run.id,
          known === undefined || since[k] === 0
            ? new RunRows(run, fresh ?? empty)
            : known.with(run, fresh),
        );
      });
    }
    const isNew = this.#coming !== undefined;
    this.#rows = rowsOf;
    this.#coming = undefined;
    return isNew || stale.length > 0;
  }
}
